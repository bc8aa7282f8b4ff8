// Args   those of reader.h
#include "reader.h"

void kernel_main() {
    qkv::stream_columns(0, [] {});
}

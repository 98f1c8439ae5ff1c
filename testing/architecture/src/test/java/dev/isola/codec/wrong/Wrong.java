package dev.isola.codec.wrong;

import dev.isola.spi.SandboxId;

/** Breaks the arrow of its folder: a codec knows nothing of Isola. */
final class Wrong {
  Class<?> arrow() {
    return SandboxId.class;
  }
}

package dev.isola.codec.wrong;

import dev.isola.spi.SandboxId;

/** Violates the dependency rule of its folder: a codec does not depend on Isola. */
final class Wrong {
  Class<?> forbidden() {
    return SandboxId.class;
  }
}

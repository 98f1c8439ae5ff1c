package dev.isola.provider.http;

import dev.isola.codec.digest.Sha256;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.util.HexFormat;

/** Derives the ids at the backend: installations that share a backend must not use the same. */
record BackendIds(InstanceId instance) {
  String of(SandboxId id) {
    return "isola" + HexFormat.of().formatHex(Sha256.of(instance + "/" + id), 0, 10);
  }
}

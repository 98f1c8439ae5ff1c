package dev.isola.provider.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Derives the ids at the backend: installations that share a backend must not use the same. */
record BackendIds(InstanceId instance) {
  String of(SandboxId id) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest((instance + "/" + id).getBytes(UTF_8));
      return "isola" + HexFormat.of().formatHex(hash, 0, 10);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}

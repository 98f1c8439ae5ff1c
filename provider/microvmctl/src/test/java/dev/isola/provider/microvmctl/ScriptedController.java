package dev.isola.provider.microvmctl;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/** Controllers for tests that are scripts, and providers that use them. */
final class ScriptedController {
  private static final String INSTANCE = SandboxId.random(new SecureRandom()).value();

  private ScriptedController() {}

  /** Writes the controller whose machines are folders. */
  static Path folders(Path folder) throws IOException {
    try (InputStream script =
        ScriptedController.class.getResourceAsStream("/folder-microvmctl.sh")) {
      if (script == null) {
        throw new IOException("the script is missing");
      }
      return executable(folder.resolve("microvmctl"), script.readAllBytes());
    }
  }

  /** Writes a controller that is this shell script. */
  static Path of(Path folder, String script) throws IOException {
    return executable(
        folder.resolve("scripted"),
        ("#!/bin/sh\n" + script + "\n").getBytes(java.nio.charset.StandardCharsets.UTF_8));
  }

  private static Path executable(Path file, byte[] content) throws IOException {
    Files.write(file, content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  static Provider provider(Path data, Map<String, String> settings) throws IOException {
    return new MicrovmctlProviderFactory()
        .create(
            new ProviderConfig(new HashMap<>(settings)),
            new ProviderContext(
                new InstanceId(INSTANCE), Files.createDirectories(data), InstantSource.system()));
  }

  /** Returns a spec whose folders are in {@code workspace}, because a machine is not isolated. */
  static SandboxSpec.Builder spec(Path workspace) {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .workspaceMount(workspace.toString())
        .deadline(Duration.ofMinutes(5));
  }
}

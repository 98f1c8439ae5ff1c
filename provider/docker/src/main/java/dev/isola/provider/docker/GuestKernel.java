package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.host.program.GvisorRelease;
import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.NotFound;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A kernel as seen by its processes.
 *
 * @param version the content of {@code /proc/version}
 * @param bootId the unique id of the boot; empty if the kernel has none
 */
record GuestKernel(String version, String bootId) {
  private static final Pattern RELEASE = Pattern.compile("Linux version (\\S+)");
  private static final Pattern BOOT = Pattern.compile("[0-9a-f-]{36}");
  private static final String VERSION_FILE = "/proc/version";
  private static final String BOOT_FILE = "/proc/sys/kernel/random/boot_id";
  private static final int MAX_LENGTH = 1024;

  /** Reads the kernel from inside a sandbox. */
  static GuestKernel of(Sandbox sandbox) {
    return new GuestKernel(text(sandbox, VERSION_FILE), text(sandbox, BOOT_FILE));
  }

  private static String text(Sandbox sandbox, String file) {
    try {
      return sandbox.files().readText(file, UTF_8, MAX_LENGTH).strip();
    } catch (NotFound none) {
      return "";
    }
  }

  /** Returns the boot id of the engine's host if that is this machine. */
  static Optional<String> hostBootId(EngineAddress engine) {
    try {
      return engine.local()
          ? Optional.of(Files.readString(Path.of(BOOT_FILE)).strip())
          : Optional.empty();
    } catch (IOException unknown) {
      return Optional.empty();
    }
  }

  /**
   * Tells whether this is the kernel that a sandbox must have. Returns false if that cannot be
   * determined.
   *
   * @param host the kernel release of the host, as reported by the engine
   * @param hostBoot the boot id of the host, if known
   */
  boolean matches(EngineVariant.ExpectedKernel wanted, String host, Optional<String> hostBoot) {
    return switch (wanted) {
      case HOST_KERNEL -> true;
      case GVISOR -> gvisor(host);
      case VIRTUAL_MACHINE ->
          !gvisor(host)
              && differsFromHost(host)
              && BOOT.matcher(bootId).matches()
              && hostBoot.filter(bootId::equals).isEmpty();
    };
  }

  private boolean gvisor(String host) {
    return GvisorRelease.isKernel(version, host);
  }

  private boolean differsFromHost(String host) {
    Matcher release = RELEASE.matcher(version);
    return release.lookingAt() && !host.isEmpty() && !release.group(1).equals(host);
  }
}

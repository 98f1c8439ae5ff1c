package dev.isola.provider.microvm;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The kernel that boots in virtual machines: one of the host, or one that was only unpacked.
 *
 * @param image the kernel, as a distribution installs it
 * @param modules the folder with its modules, {@code .../lib/modules/RELEASE}
 */
public record GuestKernel(Path image, Path modules) {
  /** The setting that names the kernel. */
  public static final String SETTING = "kernel";

  private static final String PREFIX = "vmlinuz-";

  /** How an operator gets a kernel. */
  public static final String REMEDY =
      "unpack Debian's kernel for virtual machines (packaging/microvm-kernel DATA/kernel), or name"
          + " one in the setting kernel";

  /**
   * Finds the kernel that the settings name, or else the newest in the folder {@code kernel} of the
   * installation, or else the best one of the host: one made for virtual machines, and the newest
   * of those.
   */
  public static Optional<GuestKernel> find(ProviderConfig config, Path installation) {
    Optional<String> named = config.get(SETTING);
    if (named.isPresent()) {
      return of(Path.of(named.get()));
    }
    return newest(installation.resolve("kernel/boot")).or(() -> newest(Path.of("/boot")));
  }

  private static Optional<GuestKernel> newest(Path folder) {
    List<GuestKernel> found = new ArrayList<>();
    try (DirectoryStream<Path> kernels = Files.newDirectoryStream(folder, PREFIX + "*")) {
      kernels.forEach(image -> of(image).ifPresent(found::add));
    } catch (IOException noFolder) {
      return Optional.empty();
    }
    return found.stream()
        .filter(kernel -> Files.isReadable(kernel.image()))
        .max(
            Comparator.comparing(GuestKernel::isForMachines)
                .thenComparing(kernel -> kernel.image().getFileName().toString()));
  }

  /** Returns the kernel in a file {@code .../boot/vmlinuz-RELEASE} whose modules are beside it. */
  static Optional<GuestKernel> of(Path image) {
    String name = image.getFileName().toString();
    Path boot = image.toAbsolutePath().getParent();
    if (!name.startsWith(PREFIX) || boot == null || boot.getParent() == null) {
      return Optional.empty();
    }
    Path modules = boot.resolveSibling("lib/modules").resolve(name.substring(PREFIX.length()));
    return Files.isRegularFile(image) && Files.isRegularFile(modules.resolve("modules.order"))
        ? Optional.of(new GuestKernel(image, modules))
        : Optional.empty();
  }

  private boolean isForMachines() {
    return release().contains("cloud");
  }

  /** Returns the version, such as {@code 6.1.0-55-cloud-amd64}. */
  public String release() {
    return image.getFileName().toString().substring(PREFIX.length());
  }

  /** Returns the kernel that {@link #find} finds. */
  public static GuestKernel require(ProviderConfig config, Path installation) {
    return find(config, installation).orElseThrow(() -> missing(config));
  }

  private static SandboxException missing(ProviderConfig config) {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, missingReason(config), REMEDY).exception();
  }

  /** Returns the reason for an absent kernel. */
  public static String missingReason(ProviderConfig config) {
    return config
        .get(SETTING)
        .map(
            path ->
                "there is no kernel with its modules at "
                    + path
                    + " (expected .../boot/vmlinuz-RELEASE and .../lib/modules/RELEASE)")
        .orElse("there is no kernel with its modules for virtual machines");
  }
}

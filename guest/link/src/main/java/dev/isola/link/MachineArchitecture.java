package dev.isola.link;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The supported CPU architectures. Each has two names: one is reported by {@code uname -m} and used
 * by QEMU, the other by OCI images and Kubernetes. The JVM uses a name of either kind.
 */
public enum MachineArchitecture {
  X86_64("x86_64", "amd64"),
  AARCH64("aarch64", "arm64");

  private final String machine;
  private final String image;

  MachineArchitecture(String machine, String image) {
    this.machine = machine;
    this.image = image;
  }

  /**
   * Returns the architecture of this machine.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it is not supported
   */
  public static MachineArchitecture ofHost() {
    return of(System.getProperty("os.arch", ""));
  }

  /**
   * Returns the architecture with a name of either kind.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if it is not supported
   */
  public static MachineArchitecture of(String name) {
    return find(name)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.PROVIDER_UNAVAILABLE,
                        "the architecture '" + name + "' is not supported",
                        "use a machine with one of: " + supported())
                    .exception());
  }

  /** Returns the architecture with a name of either kind; empty if it is not supported. */
  public static Optional<MachineArchitecture> find(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return Arrays.stream(values())
        .filter(one -> one.machine.equals(lower) || one.image.equals(lower))
        .findFirst();
  }

  /** Returns the names of all architectures, for messages. */
  public static String supported() {
    return Arrays.stream(values())
        .map(MachineArchitecture::machine)
        .collect(Collectors.joining(", "));
  }

  /** Returns the name as reported by {@code uname -m}. */
  public String machine() {
    return machine;
  }

  /** Returns the name as used by OCI images and Kubernetes. */
  public String image() {
    return image;
  }
}

package dev.isola.provider.microvm.qemu;

import dev.isola.host.launch.HostProgram;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The installed QEMU.
 *
 * @param version such as {@code 7.2.22}
 */
record QemuProgram(Path path, String version, String identity) {
  static final String SETTING = "program";
  static final String REMEDY = "apt-get install qemu-system-x86 (qemu-system-arm on aarch64)";
  private static final Pattern VERSION = Pattern.compile("version (\\d+(\\.\\d+)*)");

  /** Returns the name of the program on this architecture. */
  static String name() {
    return "qemu-system-" + Accelerator.architecture();
  }

  static Optional<QemuProgram> find(ProviderConfig config) {
    return HostProgram.find(config.get(SETTING).orElse(name()))
        .map(found -> new QemuProgram(found.path(), version(found), found.identity()));
  }

  private static String version(HostProgram program) {
    Matcher matcher = VERSION.matcher(program.run("--version").text());
    return matcher.find() ? matcher.group(1) : "unknown";
  }
}

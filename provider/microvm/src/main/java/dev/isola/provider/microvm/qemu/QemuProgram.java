package dev.isola.provider.microvm.qemu;

import dev.isola.host.launch.HostProgram;
import dev.isola.link.MachineArchitecture;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
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

  /** Asking the program takes longer than many a request. */
  private static final Map<String, String> VERSIONS = new ConcurrentHashMap<>();

  private static final Pattern VERSION = Pattern.compile("version (\\d+(\\.\\d+)*)");

  /** Returns the name of the program on this architecture. */
  static String name() {
    return name(MachineArchitecture.ofHost());
  }

  static String name(MachineArchitecture architecture) {
    return "qemu-system-" + architecture.machine();
  }

  static Optional<QemuProgram> find(ProviderConfig config) {
    return HostProgram.find(config.get(SETTING).orElse(name()))
        .map(found -> of(found, found.identity()));
  }

  private static QemuProgram of(HostProgram found, String identity) {
    String version = VERSIONS.computeIfAbsent(identity, _ -> version(found));
    return new QemuProgram(found.path(), version, identity);
  }

  private static String version(HostProgram program) {
    Matcher matcher = VERSION.matcher(program.run("--version").text());
    return matcher.find() ? matcher.group(1) : "unknown";
  }
}

package dev.isola.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The properties of the machine that affect results. */
final class MachineReport {
  private final double loadBefore = load();

  /**
   * @param versions the versions of the peers
   */
  Map<String, Object> json(Map<String, String> versions) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("cpus", Runtime.getRuntime().availableProcessors());
    json.put("cpu", field("/proc/cpuinfo", "model name"));
    json.put("memory", field("/proc/meminfo", "MemTotal"));
    json.put("kernel", System.getProperty("os.version", ""));
    json.put("architecture", System.getProperty("os.arch", ""));
    json.put("java", Runtime.version().toString());
    json.put("versions", versions);
    json.put("loadBefore", Rounding.of(loadBefore, 2));
    json.put("loadAfter", Rounding.of(load(), 2));
    return json;
  }

  /** Returns the load average of the last minute. */
  private static double load() {
    try {
      return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  private static String field(String file, String name) {
    try {
      return Files.readAllLines(Path.of(file)).stream()
          .filter(line -> line.startsWith(name))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .orElse("");
    } catch (IOException e) {
      return "";
    }
  }
}

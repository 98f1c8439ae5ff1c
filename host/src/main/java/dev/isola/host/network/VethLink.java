package dev.isola.host.network;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The host's end of a sandbox's veth pair.
 *
 * @param group the interface group, by which rules identify the installation
 * @param alias identifies the sandbox; may be empty
 */
record VethLink(String name, String group, String alias) {
  static final String PREFIX = "isola-";
  private static final Pattern NAME = Pattern.compile("\\d+: (" + PREFIX + "\\d+)[@:].*");
  private static final Pattern GROUP = Pattern.compile(" group (\\S+)");
  private static final Pattern ALIAS = Pattern.compile(" alias (\\S+)");

  /** Returns the interfaces of all installations. */
  static List<VethLink> all() throws IOException {
    return parse(NetworkProgram.of("ip").run("", "-o", "link", "show", "type", "veth"));
  }

  static List<VethLink> parse(String listed) {
    List<VethLink> found = new ArrayList<>();
    for (String line : listed.lines().toList()) {
      Matcher name = NAME.matcher(line);
      if (name.matches()) {
        found.add(new VethLink(name.group(1), find(GROUP, line), find(ALIAS, line)));
      }
    }
    return found;
  }

  private static String find(Pattern pattern, String line) {
    Matcher matcher = pattern.matcher(line);
    return matcher.find() ? matcher.group(1) : "";
  }

  /** Returns the group of an installation, derived from its id; collisions are unlikely. */
  static String group(InstanceId instance) {
    return Integer.toString(1 << 30 | (instance.value().hashCode() & 0x3fff_ffff));
  }

  static String alias(InstanceId instance, SandboxId id) {
    return "isola-" + instance + "-" + id;
  }
}

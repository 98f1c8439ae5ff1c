package dev.isola.app.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** Options that say which other hosts a sandbox reaches. */
public final class EgressOptions {
  /** {@code HOST} or {@code HOST:PORTS}; an IPv6 address has several colons and no ports. */
  private static final Pattern RULE =
      Pattern.compile("([^:]+):([0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)");

  @Option(
      names = "--allow-host",
      paramLabel = "HOST[:PORTS]",
      description =
          "Let the sandbox reach this host and no others: example.com, *.example.com:443, or a"
              + " block of addresses. Implies --network filtered. Repeatable.")
  private List<String> allowed = new ArrayList<>();

  @Option(
      names = "--deny-host",
      paramLabel = "HOST[:PORTS]",
      description = "Deny this host. Implies --network filtered. Repeatable.")
  private List<String> denied = new ArrayList<>();

  @Option(
      names = "--egress-preset",
      paramLabel = "NAME",
      description =
          "Let the sandbox reach the hosts of a list such as package-registries or github. Implies"
              + " --network filtered. Repeatable.")
  private List<String> presets = new ArrayList<>();

  /** Returns the settings as in {@code network.egress} of a spec; empty if no option is given. */
  public Map<String, Object> document() {
    Map<String, Object> document = new LinkedHashMap<>();
    List<Map<String, Object>> rules = new ArrayList<>();
    allowed.forEach(text -> rules.add(rule("allow", text)));
    denied.forEach(text -> rules.add(rule("deny", text)));
    if (!rules.isEmpty()) {
      document.put("rules", rules);
    }
    if (!presets.isEmpty()) {
      document.put("presets", List.copyOf(presets));
    }
    return document;
  }

  /** Returns the rule that a host with optional ports stands for. */
  public static Map<String, Object> rule(String action, String text) {
    Map<String, Object> rule = new LinkedHashMap<>();
    Matcher parts = RULE.matcher(text);
    rule.put(action, parts.matches() ? parts.group(1) : text);
    if (parts.matches()) {
      rule.put("ports", List.of(parts.group(2).split(",")));
    }
    return rule;
  }
}

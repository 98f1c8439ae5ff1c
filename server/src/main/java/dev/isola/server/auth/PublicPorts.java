package dev.isola.server.auth;

import dev.isola.engine.api.SettingsStore;
import dev.isola.spi.SandboxId;
import java.util.List;
import java.util.function.Predicate;

/** The ports of sandboxes that are accessible without a credential. */
public final class PublicPorts {
  private static final String SCOPE = "public-port";

  /** Label of a sandbox whose ports are all public. */
  public static final String ALL_PORTS_LABEL = "isola.public-ports";

  private final SettingsStore settings;

  PublicPorts(SettingsStore settings) {
    this.settings = settings;
  }

  public boolean contains(SandboxId sandbox, int port) {
    return settings.get(SCOPE, name(sandbox, port)).isPresent();
  }

  public void add(SandboxId sandbox, int port) {
    settings.put(SCOPE, name(sandbox, port), "true");
  }

  public void remove(SandboxId sandbox, int port) {
    settings.remove(SCOPE, name(sandbox, port));
  }

  /** Returns the public ports of a sandbox in ascending order. */
  public List<Integer> of(SandboxId sandbox) {
    String prefix = sandbox + ":";
    return settings.all(SCOPE).keySet().stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> Integer.parseInt(name.substring(prefix.length())))
        .sorted()
        .toList();
  }

  /** Removes the entries of sandboxes that no longer exist. */
  public void retain(Predicate<SandboxId> there) {
    for (String name : settings.all(SCOPE).keySet()) {
      if (!there.test(new SandboxId(name.substring(0, name.indexOf(':'))))) {
        settings.remove(SCOPE, name);
      }
    }
  }

  private static String name(SandboxId sandbox, int port) {
    return sandbox + ":" + port;
  }
}

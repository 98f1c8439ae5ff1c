package dev.isola.app.local;

import dev.isola.app.cli.RunOptions;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ValueOrigin;
import dev.isola.engine.selection.SelectionPolicy;
import dev.isola.spi.Isolation;

/**
 * What a run may use. It is what the server may, with one difference: the user of the command line
 * may do without isolation by saying so ({@code --isolation process}, or a provider without
 * isolation by name), unless the floor was configured.
 */
final class RunPolicy {
  private RunPolicy() {}

  static SelectionPolicy of(Config config, RunOptions options) {
    SelectionPolicy policy = config.policy();
    boolean byLevel = options.isolation().filter(Isolation.PROCESS::equals).isPresent();
    boolean byName = options.provider != null;
    boolean configured = !(config.origin(ConfigKeys.FLOOR) instanceof ValueOrigin.Default);
    return new SelectionPolicy(
        policy.mode(),
        !configured && (byLevel || byName) ? Isolation.PROCESS : policy.floor(),
        policy.allowProcess() || byLevel,
        policy.microvmToRemote());
  }
}

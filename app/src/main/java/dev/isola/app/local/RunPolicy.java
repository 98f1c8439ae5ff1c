package dev.isola.app.local;

import dev.isola.app.cli.RunOptions;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ValueOrigin;
import dev.isola.spi.Isolation;

/**
 * Policy of {@code isola run}. Equals the server's, with one exception: the user may opt out of
 * isolation explicitly, with {@code --isolation process} or by naming a provider without isolation,
 * unless the floor is configured.
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
        policy.allowEmulation(),
        policy.microvmToRemote());
  }
}

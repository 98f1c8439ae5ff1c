package dev.isola.engine;

import dev.isola.engine.api.egress.EgressOperations;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.egress.EgressRecovery;
import dev.isola.engine.egress.EgressRules;
import dev.isola.engine.egress.EgressService;
import dev.isola.engine.egress.Interceptions;
import dev.isola.engine.egress.SandboxAuthorities;
import dev.isola.engine.lifecycle.LiveSandboxes;
import java.time.Duration;

/** The connections of sandboxes in network mode {@code filtered}. */
final class EngineEgress {
  private static final Duration HOUR = Duration.ofHours(1);

  /** Shorter than the time for which sandboxes list executions that have ended. */
  private static final Duration EVENTS_INTERVAL = Duration.ofSeconds(1);

  final EgressService service;
  final EgressOperations operations;
  private final SandboxAuthorities authorities;

  EngineEgress(
      EngineContext context, SandboxRecords records, EngineSecrets secrets, Telemetry telemetry) {
    authorities = new SandboxAuthorities(context.ledger(), secrets.sealed, context.clock());
    service =
        new EgressService(
            EgressRules.of(context.config()),
            new Interceptions(context.config(), authorities, secrets.service),
            records.events,
            telemetry.metrics.recorder());
    operations = new EgressOperations(service, records.recorder, secrets.variables);
  }

  void start(EngineContext context, LiveSandboxes liveSandboxes, TaskScheduler schedule) {
    EgressRecovery recovery =
        new EgressRecovery(service, context.ledger(), liveSandboxes, context.log());
    schedule.every(EVENTS_INTERVAL, "egress events", service::flush);
    schedule.once("egress", recovery::attachAll);
    schedule.every(
        context.config().get(ConfigKeys.RECONCILE_INTERVAL), "egress", recovery::attachAll);
    schedule.every(
        HOUR, "authorities", context.onOneServer("authorities", HOUR, authorities::removeOrphans));
  }
}

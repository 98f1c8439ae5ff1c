package dev.isola.engine;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.api.pool.WarmPool;
import dev.isola.engine.api.statistics.StatisticsSampler;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.egress.EgressService;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.metrics.GaugeValues;
import dev.isola.engine.usage.StatusReader;
import dev.isola.engine.usage.UsageMonitor;
import dev.isola.engine.usage.UsageSamples;
import java.time.Duration;
import java.util.stream.Collectors;

/** The usage of sandboxes, the statistics of the engine, and its gauges. */
final class StateReports {
  private static final Duration EXECUTIONS_INTERVAL = Duration.ofSeconds(5);

  private final EngineContext context;
  private final LiveSandboxes liveSandboxes;
  private final Telemetry telemetry;
  private final UsageMonitor usage;
  final StatusReader status;

  StateReports(
      EngineContext context,
      SandboxRecords records,
      LiveSandboxes liveSandboxes,
      EgressService egress,
      Telemetry telemetry) {
    this.context = context;
    this.liveSandboxes = liveSandboxes;
    this.telemetry = telemetry;
    UsageSamples samples = new UsageSamples();
    usage =
        new UsageMonitor(
            liveSandboxes,
            records.recorder,
            records.events,
            samples,
            context.config().get(ConfigKeys.USAGE_WARN_AT),
            context.clock(),
            context.log());
    status = new StatusReader(liveSandboxes, egress, context.registry(), samples, telemetry.errors);
  }

  /** Returns a sampler of the state of the engine. */
  StatisticsSampler sampler(AdmissionControl admission, WarmPool pool) {
    return new StatisticsSampler(
        new StatisticsSampler.Sources(
            context.ledger().sandboxes(),
            telemetry.metrics.statistics(),
            pool::size,
            admission::usage,
            context.health()::current),
        context.clock(),
        System::nanoTime);
  }

  void registerGauges(AdmissionControl admission, WarmPool pool, SandboxRecords records) {
    telemetry.metrics.registerGauges(
        () ->
            new GaugeValues(
                context.ledger().sandboxes().countByState(),
                admission.usage(),
                context.registry().names().stream()
                    .collect(Collectors.toMap(name -> name, admission::reserved)),
                pool.size(),
                pool.stats(),
                context.health().current(),
                usage.latest(),
                records.quarantine.size()),
        context.registry().names());
  }

  void start(TaskScheduler schedule) {
    schedule.every(context.config().get(ConfigKeys.USAGE_INTERVAL), "usage", usage::sample);
    schedule.every(
        EXECUTIONS_INTERVAL,
        "executions",
        () -> telemetry.instrumentation.executions().sweep(liveSandboxes.all(), context.log()));
  }
}

package dev.isola.engine;

import dev.isola.engine.api.pool.WarmPool;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.api.template.TemplateDeclarations;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.placement.MachineBalancer;
import dev.isola.engine.sandbox.ProviderCandidates;
import dev.isola.engine.sandbox.RequestResolver;
import dev.isola.engine.sandbox.TemplateResolver;
import dev.isola.engine.sandbox.VolumeResolver;
import dev.isola.engine.sandbox.WarmSandboxes;
import dev.isola.engine.selection.ProviderSelector;

/** The creation of sandboxes, at the request of clients and for the warm pool. */
final class SandboxCreation {
  final ProviderCandidates candidates;
  final TemplateDeclarations templates;
  final SandboxCreator creator;
  final WarmPool pool;

  SandboxCreation(
      EngineContext context,
      SandboxRecords records,
      EngineSecrets secrets,
      Admission admission,
      LiveSandboxes liveSandboxes,
      EngineEgress egress,
      EngineSnapshots snapshots,
      SandboxLifecycle lifecycle,
      Telemetry telemetry) {
    Config config = context.config();
    candidates =
        new ProviderCandidates(
            new ProviderSelector(config.policy(), context.registry().instances()),
            context.health(),
            new MachineBalancer(
                context.registry().instances(),
                context.health()::current,
                admission.control::reserved),
            snapshots.images);
    templates = new TemplateDeclarations(context.ledger(), context.clock());
    WarmSandboxes warm =
        new WarmSandboxes(
            config.pool(),
            context.registry(),
            context.ledger(),
            records.recorder,
            context.ownership(),
            context.clock(),
            context.log());
    creator =
        new SandboxCreator(
            new RequestResolver(
                new TemplateResolver(templates::requireBuilt),
                snapshots.resolver,
                new VolumeResolver(context.ledger(), context.clock()),
                config.hostAccess(),
                config.networks(),
                config.get(ConfigKeys.SANDBOX_MAX_DISK_MB),
                egress.service.rules(),
                secrets.variables),
            candidates,
            warm,
            admission.control,
            records.recorder,
            secrets.env,
            secrets.variables,
            context.registry(),
            snapshots.images,
            egress.service,
            liveSandboxes,
            lifecycle.destroyer,
            records.events,
            telemetry.instrumentation,
            context.clock(),
            context.log());
    pool =
        new WarmPool(
            config.pool(),
            candidates,
            creator,
            warm,
            lifecycle.destroyer,
            context.ownership(),
            context.log());
  }

  void start(EngineContext context, TaskScheduler schedule) {
    pool.start();
    schedule.every(context.config().get(ConfigKeys.RECONCILE_INTERVAL), "pool", pool::refill);
    schedule.once("pool", pool::refill);
  }
}

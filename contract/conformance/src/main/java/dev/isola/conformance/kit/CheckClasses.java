package dev.isola.conformance.kit;

import dev.isola.conformance.check.BackgroundChecks;
import dev.isola.conformance.check.ConcurrencyChecks;
import dev.isola.conformance.check.EgressChecks;
import dev.isola.conformance.check.ErrorsChecks;
import dev.isola.conformance.check.EscapeChecks;
import dev.isola.conformance.check.ExecChecks;
import dev.isola.conformance.check.ExhaustionChecks;
import dev.isola.conformance.check.FailuresChecks;
import dev.isola.conformance.check.FileEscapeChecks;
import dev.isola.conformance.check.FilesChecks;
import dev.isola.conformance.check.ForkingChecks;
import dev.isola.conformance.check.HonestyChecks;
import dev.isola.conformance.check.HostileTreesChecks;
import dev.isola.conformance.check.IdempotencyChecks;
import dev.isola.conformance.check.LifecycleChecks;
import dev.isola.conformance.check.LimitViewChecks;
import dev.isola.conformance.check.LimitsChecks;
import dev.isola.conformance.check.MemoryForkLifecycleChecks;
import dev.isola.conformance.check.MemoryForkingChecks;
import dev.isola.conformance.check.OutputChecks;
import dev.isola.conformance.check.PausingChecks;
import dev.isola.conformance.check.ProcessLimitChecks;
import dev.isola.conformance.check.PtyChecks;
import dev.isola.conformance.check.QuotaChecks;
import dev.isola.conformance.check.RecoveryChecks;
import dev.isola.conformance.check.RegressionsChecks;
import dev.isola.conformance.check.ReservedMountsChecks;
import dev.isola.conformance.check.SecretEnvChecks;
import dev.isola.conformance.check.SnapshotsChecks;
import dev.isola.conformance.check.StreamsChecks;
import dev.isola.conformance.check.TimeoutChecks;
import dev.isola.conformance.check.TreesChecks;
import dev.isola.conformance.check.VolumesChecks;
import dev.isola.conformance.check.WatchChecks;
import java.util.List;

/** The check classes in the order in which they run. Add new classes here. */
final class CheckClasses {
  private CheckClasses() {}

  static List<Object> all() {
    return List.of(
        new LifecycleChecks(),
        new ExecChecks(),
        new SecretEnvChecks(),
        new TimeoutChecks(),
        new OutputChecks(),
        new FilesChecks(),
        new FileEscapeChecks(),
        new TreesChecks(),
        new HostileTreesChecks(),
        new WatchChecks(),
        new PtyChecks(),
        new StreamsChecks(),
        new BackgroundChecks(),
        new IdempotencyChecks(),
        new RecoveryChecks(),
        new ConcurrencyChecks(),
        new HonestyChecks(),
        new ReservedMountsChecks(),
        new QuotaChecks(),
        new LimitsChecks(),
        new ProcessLimitChecks(),
        new LimitViewChecks(),
        new ExhaustionChecks(),
        new PausingChecks(),
        new SnapshotsChecks(),
        new ForkingChecks(),
        new MemoryForkingChecks(),
        new MemoryForkLifecycleChecks(),
        new VolumesChecks(),
        new EgressChecks(),
        new ErrorsChecks(),
        new FailuresChecks(),
        new EscapeChecks(),
        new RegressionsChecks());
  }
}

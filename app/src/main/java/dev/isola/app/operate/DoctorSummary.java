package dev.isola.app.operate;

import dev.isola.app.cli.ProviderReport;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.spi.Health;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The first lines of {@code doctor}: whether sandboxes run here, and the one step to take next.
 *
 * @param next a command, or what to do and the command for it
 */
record DoctorSummary(String verdict, String next) {
  /** Providers that are the least work to enable, the least first. */
  private static final List<String> EASIEST =
      List.of("bubblewrap", "crun", "runc", "podman", "docker", "gvisor");

  private static final List<String> NEEDED_BY_ALL = List.of("data folder", "disk");

  static DoctorSummary of(
      List<DoctorCheck> machine,
      List<ProviderReport> reports,
      Map<String, ProviderInstance> instances,
      SelectionPolicy policy) {
    Optional<ProviderReport> best = best(reports, instances, policy);
    return new DoctorSummary(verdict(reports, best), next(machine, reports, best));
  }

  /** Returns the provider that a sandbox without further requirements gets. */
  private static Optional<ProviderReport> best(
      List<ProviderReport> reports,
      Map<String, ProviderInstance> instances,
      SelectionPolicy policy) {
    List<ProviderStatus> statuses =
        reports.stream()
            .map(
                report ->
                    new ProviderStatus(
                        report.name(),
                        report.health().usable()
                            ? report.info().map(info -> info.withName(report.name()))
                            : Optional.empty(),
                        report.health(),
                        Instant.EPOCH))
            .toList();
    CreateRequest request =
        CreateRequest.auto(SandboxSpec.builder(new SandboxId("doctor")).build());
    try {
      return new ProviderSelector(policy, instances)
          .select(request, statuses)
          .best()
          .map(ProviderInfo::name)
          .flatMap(name -> reports.stream().filter(one -> one.name().equals(name)).findFirst());
    } catch (SandboxException e) {
      return Optional.empty();
    }
  }

  private static String verdict(List<ProviderReport> reports, Optional<ProviderReport> best) {
    if (best.isPresent()) {
      return "Isola can run sandboxes on this machine with "
          + best.get().name()
          + " (isolation: "
          + best.get().isolation()
          + ").";
    }
    List<ProviderReport> usable =
        reports.stream().filter(report -> report.health().usable()).toList();
    Optional<ProviderReport> emulated =
        usable.stream()
            .filter(report -> report.info().filter(i -> !i.accelerated()).isPresent())
            .findFirst();
    if (emulated.isPresent()) {
      return "Isola can isolate sandboxes on this machine only with emulated processors, which are"
          + " slow: isola run --provider "
          + emulated.get().name()
          + ".";
    }
    return usable.isEmpty()
        ? "Isola cannot run sandboxes on this machine: none of "
            + reports.size()
            + " providers works."
        : "Isola cannot isolate sandboxes on this machine: only "
            + String.join(", ", usable.stream().map(ProviderReport::name).toList())
            + (usable.size() == 1 ? " works." : " work.");
  }

  private static String next(
      List<DoctorCheck> machine, List<ProviderReport> reports, Optional<ProviderReport> best) {
    Optional<String> obstacle =
        machine.stream()
            .filter(check -> !check.good() && NEEDED_BY_ALL.contains(check.name()))
            .map(check -> check.name() + ": " + check.value() + "; " + check.fix())
            .findFirst();
    return obstacle
        .or(() -> best.isEmpty() ? enable(reports) : improve(machine, best.orElseThrow()))
        .orElse(
            best.isPresent()
                ? "isola run -- uname -a"
                : "isola doctor -v prints what each provider needs");
  }

  /** Returns the fix for a provider that does not work, the easiest first. */
  private static Optional<String> enable(List<ProviderReport> reports) {
    List<ProviderReport> ordered = new ArrayList<>();
    for (String name : EASIEST) {
      reports.stream().filter(report -> report.name().equals(name)).forEach(ordered::add);
    }
    return Stream.concat(ordered.stream(), reports.stream())
        .flatMap(
            report ->
                report.health() instanceof Health.Unhealthy(String reason, String fix)
                        && !fix.isEmpty()
                    ? Stream.of("to enable " + report.name() + " (" + reason + "): " + fix)
                    : Stream.empty())
        .findFirst();
  }

  private static Optional<String> improve(List<DoctorCheck> machine, ProviderReport best) {
    if (best.health() instanceof Health.Degraded(String reason, String fix)) {
      return Optional.of(best.name() + " is degraded: " + reason + "; " + fix);
    }
    boolean limitsMemory =
        best.info()
            .filter(info -> info.support().enforcedLimits().contains(LimitKind.MEMORY))
            .isPresent();
    return limitsMemory
        ? Optional.empty()
        : machine.stream()
            .filter(check -> check.name().equals("limits") && !check.good())
            .map(check -> "to limit memory and CPU of sandboxes: " + check.fix())
            .findFirst();
  }

  List<String> lines() {
    return List.of(verdict, "Next: " + next);
  }
}

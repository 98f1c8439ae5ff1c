package dev.isola.engine.placement;

import dev.isola.engine.api.Rejection;
import dev.isola.engine.api.Rejection.Kind;
import dev.isola.engine.api.Selection;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds the error for a request that no provider can serve: it names each provider with its reason
 * and remedy.
 */
final class PlacementFailure {
  private PlacementFailure() {}

  static SandboxException error(
      Selection selection, List<ProviderAttempt> attempts, List<SandboxException> failures) {
    List<Rejection> relevant =
        selection.rejections().stream()
            .filter(one -> one.kind() != Kind.NOT_NAMED)
            .filter(one -> selection.explicit() || one.kind() != Kind.OTHER_REGION)
            .toList();
    List<String> reasons = new ArrayList<>();
    attempts.forEach(one -> reasons.add(one.toString()));
    relevant.forEach(one -> reasons.add(one.provider() + ": " + one.reason()));
    String list = reasons.isEmpty() ? "no provider is installed" : String.join("; ", reasons);
    Fault fault =
        Fault.of(
            code(relevant, failures),
            what(attempts) + " (" + list + ")",
            remedy(relevant, failures));
    for (ProviderAttempt attempt : attempts) {
      fault = fault.with("provider." + attempt.provider(), attempt.reason());
    }
    for (Rejection rejection : relevant) {
      fault = fault.with("provider." + rejection.provider(), rejection.reason());
    }
    SandboxException error =
        failures.isEmpty() ? fault.exception() : fault.exception(failures.getLast());
    failures.stream().limit(Math.max(0, failures.size() - 1)).forEach(error::addSuppressed);
    return error;
  }

  private static String what(List<ProviderAttempt> attempts) {
    return attempts.isEmpty()
        ? "no provider is eligible for this sandbox"
        : "no provider could create the sandbox";
  }

  /**
   * Returns the error code. It is retryable if a provider failed or is unhealthy, and not if no
   * provider supports the request.
   */
  private static ErrorCode code(List<Rejection> relevant, List<SandboxException> failures) {
    if (!failures.isEmpty()) {
      return failures.stream().allMatch(e -> e.category() == Category.RESOURCE)
          ? ErrorCode.RESOURCE_LIMIT
          : ErrorCode.PROVIDER_UNAVAILABLE;
    }
    boolean unhealthy = relevant.stream().anyMatch(one -> one.kind() == Kind.UNHEALTHY);
    return unhealthy || relevant.isEmpty()
        ? ErrorCode.PROVIDER_UNAVAILABLE
        : ErrorCode.NOT_IMPLEMENTED;
  }

  private static String remedy(List<Rejection> relevant, List<SandboxException> failures) {
    List<String> steps = new ArrayList<>();
    failures.stream().map(e -> e.fault().remedy()).forEach(steps::add);
    relevant.forEach(
        one -> {
          if (!one.fix().isEmpty()) {
            steps.add("for " + one.provider() + ": " + one.fix());
          }
        });
    steps.removeIf(String::isEmpty);
    return steps.isEmpty()
        ? "run isola doctor, or relax the requirements"
        : String.join("; ", steps.stream().distinct().toList());
  }
}

package dev.isola.engine.placement;

import dev.isola.engine.api.Selection;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides which candidate creates the sandbox, after the attempts so far. Only the error code
 * decides whether the next one is tried (see {@link ErrorCode#allowsFallback}). Does no I/O:
 *
 * <pre>{@code
 * Fallback fallback = new Fallback(selection);
 * while (true) {
 *   ProviderInfo candidate = fallback.next();
 *   try {
 *     return create(candidate);
 *   } catch (RuntimeException e) {
 *     log.warning(fallback.failed(candidate, e, now));
 *   }
 * }
 * }</pre>
 */
public final class Fallback {
  private final Selection selection;
  private final List<ProviderAttempt> attempts = new ArrayList<>();
  private final List<SandboxException> failures = new ArrayList<>();

  public Fallback(Selection selection) {
    this.selection = selection;
  }

  /**
   * Returns the candidate to try.
   *
   * @throws SandboxException if none is left: the error of the candidate, if the client named the
   *     provider; otherwise an error that lists every provider with its reason
   */
  public ProviderInfo next() {
    if (attempts.size() < selection.candidates().size()) {
      return selection.candidates().get(attempts.size());
    }
    throw selection.explicit() && failures.size() == 1
        ? failures.getFirst()
        : PlacementFailure.error(selection, attempts, failures);
  }

  /**
   * Records a failed attempt.
   *
   * @return the message for the operator
   * @throws SandboxException the failure, if it does not allow fallback
   */
  public String failed(ProviderInfo candidate, RuntimeException failure, Instant now) {
    SandboxException error = translated(candidate.name(), failure);
    attempts.add(new ProviderAttempt(candidate.name(), error.code(), error.fault().problem(), now));
    if (!error.code().allowsFallback()) {
      failures.forEach(error::addSuppressed);
      throw error;
    }
    failures.add(error);
    return "provider "
        + candidate.name()
        + " could not create a sandbox: "
        + error.fault().problem()
        + (attempts.size() < selection.candidates().size()
            ? "; trying the next provider"
            : "; no other provider is left");
  }

  /** Returns the failed attempts, in order. */
  public List<ProviderAttempt> attempts() {
    return List.copyOf(attempts);
  }

  /** Returns the error for a selection without candidates, with the reason of each provider. */
  public static SandboxException refused(Selection selection) {
    return PlacementFailure.error(selection, List.of(), List.of());
  }

  /** Translates an undeclared exception, which is a bug of the provider. */
  private static SandboxException translated(String provider, RuntimeException failure) {
    return failure instanceof SandboxException known
        ? known
        : Fault.of(
                ErrorCode.INTERNAL,
                "provider " + provider + " violated its contract: " + failure,
                "this is a bug in the provider; please report it")
            .with("provider", provider)
            .exception(failure);
  }
}

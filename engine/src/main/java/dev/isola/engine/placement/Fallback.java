package dev.isola.engine.placement;

import dev.isola.engine.api.Log;
import dev.isola.engine.selection.Selection;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.store.Failpoint;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Tries the candidates in order until one creates the sandbox. Only the error code decides whether
 * the next one is tried (see {@link ErrorCode#allowsFallback}).
 */
public final class Fallback {
  private final InstantSource clock;
  private final Log log;

  public Fallback(InstantSource clock, Log log) {
    this.clock = clock;
    this.log = log;
  }

  /**
   * Creates a sandbox at the first candidate that can.
   *
   * @throws SandboxException the error of the candidate, if it does not allow fallback or the
   *     client named the provider; otherwise an error that lists every provider with its reason
   */
  public PlacementResult place(Selection selection, SandboxFactory factory) {
    List<ProviderAttempt> attempts = new ArrayList<>();
    List<SandboxException> failures = new ArrayList<>();
    Iterator<ProviderInfo> candidates = selection.candidates().iterator();
    while (candidates.hasNext()) {
      ProviderInfo candidate = candidates.next();
      try {
        Sandbox sandbox = make(candidate.name(), factory);
        return new PlacementResult(sandbox, candidate, attempts, selection.rejections());
      } catch (SandboxException e) {
        attempts.add(
            new ProviderAttempt(candidate.name(), e.code(), e.fault().problem(), clock.instant()));
        if (!e.code().allowsFallback()) {
          failures.forEach(e::addSuppressed);
          throw e;
        }
        failures.add(e);
        Failpoint.FALLBACK_NEXT.reach();
        log.warning(
            "provider "
                + candidate.name()
                + " could not create a sandbox: "
                + e.fault().problem()
                + (candidates.hasNext()
                    ? "; trying the next provider"
                    : "; no other provider is left"));
      }
    }
    if (selection.explicit() && failures.size() == 1) {
      throw failures.getFirst();
    }
    throw PlacementFailure.error(selection, attempts, failures);
  }

  /** Returns the error for a selection without candidates, with the reason of each provider. */
  public static SandboxException refused(Selection selection) {
    return PlacementFailure.error(selection, List.of(), List.of());
  }

  /** Creates the sandbox; translates any other exception, which is a bug of the provider. */
  private static Sandbox make(String provider, SandboxFactory factory) {
    try {
      return factory.create(provider);
    } catch (SandboxException e) {
      throw e;
    } catch (RuntimeException e) {
      throw Fault.of(
              ErrorCode.INTERNAL,
              "provider " + provider + " violated its contract: " + e,
              "this is a bug in the provider; please report it")
          .with("provider", provider)
          .exception(e);
    }
  }
}

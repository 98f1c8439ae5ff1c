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
 * Walks the candidates until one makes the sandbox. The code of an error alone decides whether the
 * next one is tried ({@link ErrorCode#allowsFallback}).
 */
public final class Fallback {
  private final InstantSource clock;
  private final Log log;

  public Fallback(InstantSource clock, Log log) {
    this.clock = clock;
    this.log = log;
  }

  /**
   * Makes a sandbox at the first candidate that can.
   *
   * @throws SandboxException that of the candidate, when it does not let the next one try or there
   *     was only this one; otherwise one that lists every provider with its reason
   */
  public PlacementResult place(Selection selection, SandboxFactory maker) {
    List<ProviderAttempt> attempts = new ArrayList<>();
    List<SandboxException> failures = new ArrayList<>();
    Iterator<ProviderInfo> candidates = selection.candidates().iterator();
    while (candidates.hasNext()) {
      ProviderInfo candidate = candidates.next();
      try {
        Sandbox sandbox = make(candidate.name(), maker);
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
                + " could not make a sandbox: "
                + e.fault().problem()
                + (candidates.hasNext() ? "; trying the next" : "; there is no other"));
      }
    }
    if (selection.explicit() && failures.size() == 1) {
      throw failures.getFirst();
    }
    throw PlacementFailure.error(selection, attempts, failures);
  }

  /** Returns the error for a selection without candidates: it names each provider's reason. */
  public static SandboxException refused(Selection selection) {
    return PlacementFailure.error(selection, List.of(), List.of());
  }

  /** A provider that throws anything else breaks the contract, and that is a bug. */
  private static Sandbox make(String provider, SandboxFactory maker) {
    try {
      return maker.create(provider);
    } catch (SandboxException e) {
      throw e;
    } catch (RuntimeException e) {
      throw Fault.of(
              ErrorCode.INTERNAL,
              "provider " + provider + " failed in a way it must not: " + e,
              "this is a bug of the provider; please report it")
          .with("provider", provider)
          .exception(e);
    }
  }
}

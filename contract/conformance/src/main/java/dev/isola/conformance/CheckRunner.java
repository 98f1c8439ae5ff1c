package dev.isola.conformance;

import dev.isola.conformance.CheckResult.Outcome;
import dev.isola.spi.Health;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.BasicFeature;
import dev.isola.spi.provider.Provider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs checks against one provider, one at a time, each with a timeout. */
public final class CheckRunner implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(90);
  private static final String INTERRUPTED = "interrupted";

  private final ProviderUnderTest underTest;
  private final Provider provider;
  private final LeakCheck leaks;
  private final Map<String, Boolean> tools = new ConcurrentHashMap<>();
  private volatile @Nullable Thread checking;
  private volatile boolean stopped;
  private boolean warm;

  public CheckRunner(ProviderUnderTest underTest, LeakCheck leaks) {
    this.underTest = underTest;
    this.provider = underTest.open();
    this.leaks = leaks;
  }

  /**
   * Runs {@code checks}. If the provider is unhealthy, every result is not run, with the reason.
   */
  public ProviderResult run(List<CheckCase> checks, Consumer<CheckResult> listener) {
    List<CheckResult> results = new ArrayList<>();
    for (CheckCase check : checks) {
      CheckResult result = run(check);
      results.add(result);
      listener.accept(result);
    }
    return new ProviderResult(underTest.name(), results);
  }

  /** Interrupts the current check and skips the remaining ones. Does not wait. */
  public void stop() {
    stopped = true;
    interrupt(checking);
  }

  private static void interrupt(@Nullable Thread thread) {
    if (thread != null) {
      thread.interrupt();
    }
  }

  public CheckResult run(CheckCase check) {
    if (stopped) {
      return result(check, Outcome.NOT_RUN, INTERRUPTED);
    }
    if (provider.health() instanceof Health.Unhealthy unhealthy) {
      return result(check, Outcome.NOT_RUN, "the provider is unhealthy: " + unhealthy.reason());
    }
    Optional<String> missing = missing(check);
    if (missing.isPresent()) {
      return result(check, Outcome.NOT_RUN, missing.get());
    }
    warmUp();
    leaks.before();
    CheckResult result = attempt(check);
    if (stopped) {
      return result(check, Outcome.NOT_RUN, INTERRUPTED);
    }
    Optional<String> leaked = leaks.after();
    return result.outcome() == Outcome.PASSED && leaked.isPresent()
        ? result(check, Outcome.FAILED, "left behind: " + leaked.get())
        : result;
  }

  /**
   * Uses a sandbox before the first resources are counted: at its first use the JVM opens
   * descriptors that it keeps, such as those of its threads that wait for input, which are no leak.
   */
  private void warmUp() {
    if (warm) {
      return;
    }
    warm = true;
    attempt(
        new CheckCase(
            "Kit",
            "warmUp",
            "P14",
            List.of(),
            List.of(),
            List.of(),
            context -> context.run("true")));
  }

  private CheckResult attempt(CheckCase check) {
    FutureTask<CheckResult> task = new FutureTask<>(() -> judge(check));
    Thread thread = Thread.ofVirtual().name("check " + check.id()).unstarted(task);
    checking = thread;
    thread.start();
    if (stopped) {
      interrupt(thread); // stop() may have been called since the first test
    }
    try {
      return task.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      thread.interrupt();
      return result(check, Outcome.FAILED, "did not finish within " + TIMEOUT.toSeconds() + " s");
    } catch (ExecutionException e) {
      return result(check, Outcome.FAILED, "the kit itself failed: " + e.getCause());
    } catch (InterruptedException e) {
      thread.interrupt();
      Thread.currentThread().interrupt();
      return result(check, Outcome.NOT_RUN, INTERRUPTED);
    } finally {
      checking = null;
    }
  }

  private CheckResult judge(CheckCase check) {
    String note;
    try (CheckContext context = new CheckContext(underTest, provider)) {
      check.run(context);
      note = context.note();
    } catch (CheckNotRun e) {
      return result(check, Outcome.NOT_RUN, String.valueOf(e.getMessage()));
    } catch (CheckFailed e) {
      return lacking(e)
          .map(reason -> result(check, Outcome.NOT_RUN, reason))
          .orElseGet(() -> result(check, Outcome.FAILED, String.valueOf(e.getMessage())));
    } catch (Throwable e) {
      Optional<String> lacking = lacking(e);
      if (lacking.isPresent()) {
        return result(check, Outcome.NOT_RUN, lacking.get());
      }
      // Any exception of a provider is a failure of the check, including errors of the JVM.
      return result(check, Outcome.FAILED, "threw " + e);
    }
    return result(check, Outcome.PASSED, note);
  }

  /** Returns the reason if a call failed because the provider lacks a feature, as it declares. */
  private Optional<String> lacking(Throwable failure) {
    for (Throwable one = failure; one != null; one = one.getCause()) {
      if (one instanceof Unsupported refused) {
        String named = refused.context().getOrDefault("capability", "");
        return provider.info().lacks().stream()
            .map(BasicFeature::displayName)
            .filter(named::equals)
            .findFirst()
            .map(CheckRunner::lacks);
      }
    }
    return Optional.empty();
  }

  private static String lacks(String feature) {
    return "the provider declares that it lacks " + feature;
  }

  private Optional<String> missing(CheckCase check) {
    for (BasicFeature feature : check.basics()) {
      if (provider.info().lacks().contains(feature)) {
        return Optional.of(lacks(feature.displayName()));
      }
    }
    for (Class<? extends Capability> capability : check.needs()) {
      if (!provider.info().capabilities().contains(capability)) {
        return Optional.of("the provider does not declare " + Capability.idOf(capability));
      }
    }
    for (String tool : check.tools()) {
      if (!tools.computeIfAbsent(tool, this::has)) {
        return Optional.of("the sandbox has no " + tool);
      }
    }
    return Optional.empty();
  }

  private boolean has(String tool) {
    try (CheckContext context = new CheckContext(underTest, provider)) {
      return context.run(Command.shell("command -v " + tool)).succeeded();
    }
  }

  private static CheckResult result(CheckCase check, Outcome outcome, String reason) {
    return new CheckResult(check.id(), check.requirement(), outcome, reason);
  }

  @Override
  public void close() {
    provider.close();
  }
}

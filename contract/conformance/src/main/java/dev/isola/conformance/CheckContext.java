package dev.isola.conformance;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Context passed to a check: the provider, a sandbox of its own, and a factory for more. Every
 * sandbox created through it is destroyed after the check.
 */
public final class CheckContext implements AutoCloseable {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final ProviderUnderTest underTest;
  private final Provider provider;
  private final Deque<SandboxId> made = new ArrayDeque<>();
  private final Deque<Provider> others = new ArrayDeque<>();
  private @Nullable Sandbox sandbox;
  private volatile String note = "";

  CheckContext(ProviderUnderTest underTest, Provider provider) {
    this.underTest = underTest;
    this.provider = provider;
  }

  public Provider provider() {
    return provider;
  }

  public ProviderInfo info() {
    return provider.info();
  }

  public ProviderUnderTest underTest() {
    return underTest;
  }

  /**
   * Opens the provider again on the same data folder, as another process would. Closed after the
   * check.
   */
  public synchronized Provider anotherProcess() {
    Provider other = underTest.open();
    others.push(other);
    return other;
  }

  /** Returns the sandbox of the check, created on the first call. */
  public synchronized Sandbox sandbox() {
    Sandbox own = sandbox;
    if (own == null) {
      own = create(spec -> spec);
      sandbox = own;
    }
    return own;
  }

  /**
   * Returns a spec with a new id and a deadline. A sandbox created from it is destroyed after the
   * check.
   */
  public synchronized SandboxSpec.Builder spec() {
    SandboxId id = SandboxId.random(RANDOM);
    made.push(id);
    return SandboxSpec.builder(id).deadline(Duration.ofMinutes(5));
  }

  public Sandbox create(UnaryOperator<SandboxSpec.Builder> with) {
    return provider.create(with.apply(spec()).build());
  }

  public ExecResult run(Command command) {
    return sandbox().run(command);
  }

  /** Runs a shell script in the sandbox of the check. */
  public ExecResult run(String shell) {
    return run(Command.shell(shell));
  }

  /** Runs a shell script, which must succeed, and returns its standard output. */
  public String output(String shell) {
    ExecResult result = run(shell);
    Expect.that(result.succeeded(), "'" + shell + "' succeeds, but " + result);
    return result.stdout().text();
  }

  /** Returns a capability of the sandbox; the check declares that it needs it. */
  public <C extends Capability> C as(Class<C> capability) {
    return sandbox()
        .as(capability)
        .orElseThrow(
            () -> new CheckFailed("declared but not implemented: " + Capability.idOf(capability)));
  }

  /** Reports what the check measured; shown if it passes. */
  public void note(String measured) {
    note = measured;
  }

  String note() {
    return note;
  }

  /** Returns the exception that ends the check as not run. */
  public CheckNotRun notRun(String reason) {
    return new CheckNotRun(reason);
  }

  @Override
  public void close() {
    RuntimeException first = null;
    for (SandboxId id : made) {
      try {
        provider.destroy(id, DestroyOptions.FORCE);
      } catch (RuntimeException e) {
        first = first == null ? e : first;
      }
    }
    others.forEach(Provider::close);
    if (first != null) {
      throw first;
    }
  }
}

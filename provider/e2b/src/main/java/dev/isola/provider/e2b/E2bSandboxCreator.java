package dev.isola.provider.e2b;

import dev.isola.codec.time.Deadline;
import dev.isola.provider.e2b.exec.ScriptRunner;
import dev.isola.provider.e2b.http.HttpErrors;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Creates sandboxes from their specs. */
record E2bSandboxCreator(
    E2bApiClient control,
    E2bProviderSettings settings,
    InstanceId instance,
    Function<E2bApiClient.SandboxEndpoint, Function<SandboxMetadata, E2bSandbox>> open) {
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(200);

  private static final Duration LIST_DELAY = Duration.ofSeconds(1);

  /** E2B's error message for a lifetime above the maximum of the account. */
  private static final Pattern MAX_TTL =
      Pattern.compile("Timeout cannot be greater than (\\d{1,5}) hours?");

  /** The default lifetime of E2B's own SDKs; E2B requires one. */
  private static final Duration DEFAULT_TTL = Duration.ofMinutes(5);

  /** Creates the folders $1 and $2, and prints the sandbox's user. */
  private static final String FOLDERS =
      """
      mkdir -p -- "$1" "$2" 2>/dev/null
      [ -w "$1" ] && [ -w "$2" ] && [ -d "$1" ] && [ -d "$2" ]; ok=$?
      echo "$(id -u):$(id -g)"
      exit $ok
      """;

  /** The same for a user without permission: root creates the folders for the user $3. */
  private static final String FOLDERS_BY_ROOT =
      """
      mkdir -p -- "$1" "$2" && chown -- "$3" "$1" "$2"
      """;

  E2bSandbox create(SandboxSpec spec, SandboxMetadata sandboxMetadata) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    E2bApiClient.SandboxEndpoint endpoint = requestSandbox(spec, sandboxMetadata);
    E2bSandbox sandbox = open.apply(endpoint).apply(sandboxMetadata);
    try {
      awaitReady(sandbox, spec, deadline);
      folders(sandbox, spec);
      SandboxInitializer.initialize(sandbox, spec, () -> left(spec, deadline));
      return sandbox;
    } catch (RuntimeException e) {
      end(sandbox, e);
      throw e;
    }
  }

  /**
   * Requests a sandbox. After a server error E2B may have created one, so the provider looks for a
   * sandbox with this metadata: if there is one it is used, otherwise none was created and another
   * provider can be tried.
   */
  private E2bApiClient.SandboxEndpoint requestSandbox(
      SandboxSpec spec, SandboxMetadata sandboxMetadata) {
    try {
      return control.create(createBody(spec, sandboxMetadata), spec.startupTimeout());
    } catch (InvalidRequest e) {
      throw ttlRefused(spec, e).orElse(e);
    } catch (OutcomeUnknown e) {
      if (!e.context().containsKey(HttpErrors.STATUS)) {
        throw e; // Without a response E2B may still create it.
      }
      return findCreated(spec.id(), e)
          .orElseThrow(
              () ->
                  Fault.of(
                          ErrorCode.PROVIDER_UNAVAILABLE,
                          e.fault().problem() + "; E2B does not list the sandbox",
                          "retry later")
                      .sandbox(spec.id())
                      .exception(e));
    }
  }

  /** E2B reveals the maximum lifetime of an account only when it rejects a longer one. */
  private static Optional<SandboxException> ttlRefused(SandboxSpec spec, InvalidRequest e) {
    Matcher refused = MAX_TTL.matcher(e.fault().problem());
    if (!refused.find()) {
      return Optional.empty();
    }
    Duration most = Duration.ofHours(Long.parseLong(refused.group(1)));
    return Optional.of(
        Fault.of(
                ErrorCode.INVALID_SPEC,
                "the E2B account allows a ttl of " + most.toSeconds() + " s at most",
                "ask for a shorter ttlSeconds, or set sandbox.ttl of the server")
            .with(Provider.MAX_TTL_SECONDS, Long.toString(most.toSeconds()))
            .sandbox(spec.id())
            .exception(e));
  }

  /** Looks twice, because a new sandbox may be listed with a delay. */
  private Optional<E2bApiClient.SandboxEndpoint> findCreated(SandboxId id, OutcomeUnknown unknown) {
    try {
      for (int look = 0; look < 2; look++) {
        List<E2bApiClient.ListedSandbox> found = control.list(SandboxMetadata.query(instance, id));
        if (!found.isEmpty()) {
          return control.open(found.getFirst().name());
        }
        LockSupport.parkNanos(LIST_DELAY.toNanos());
      }
      return Optional.empty();
    } catch (SandboxException e) {
      unknown.addSuppressed(e);
      throw unknown;
    }
  }

  private Map<String, Object> createBody(SandboxSpec spec, SandboxMetadata sandboxMetadata) {
    Map<String, Object> wanted = new LinkedHashMap<>();
    wanted.put("templateID", spec.image().orElse(settings.template()));
    wanted.put("timeout", E2bApiClient.seconds(spec.deadline().orElse(DEFAULT_TTL)));
    wanted.put("metadata", sandboxMetadata.metadata(instance));
    wanted.put("envVars", spec.environment());
    wanted.put(
        "allow_internet_access",
        spec.network().mode().filter(mode -> mode == NetworkMode.BRIDGE).isPresent());
    wanted.put("autoPause", false);
    return wanted;
  }

  private static void awaitReady(E2bSandbox sandbox, SandboxSpec spec, Deadline deadline) {
    if (!deadline.awaitUninterruptibly(
        POLL_INTERVAL, () -> sandbox.context().envd().isReachable(left(spec, deadline)))) {
      throw startupTimedOut(spec);
    }
  }

  private static void folders(E2bSandbox sandbox, SandboxSpec spec) {
    ScriptRunner shell = new ScriptRunner(sandbox.context());
    String[] both = {spec.workspaceMount(), spec.workingFolder()};
    ScriptRunner.ScriptResult result = shell.run(FOLDERS, both);
    if (result.succeeded()) {
      return;
    }
    ScriptRunner.ScriptResult byRoot =
        shell.run(
            FOLDERS_BY_ROOT, Optional.of("root"), List.of(both[0], both[1], result.text().strip()));
    if (!byRoot.succeeded()) {
      throw Fault.of(
              ErrorCode.SPAWN_FAILED,
              "the folder " + both[0] + " could not be created: " + byRoot.err().strip(),
              "use a template in which root may create it, or another workspaceMount")
          .sandbox(sandbox.id())
          .exception();
    }
  }

  private static Duration left(SandboxSpec spec, Deadline deadline) {
    return deadline.leftOrElseThrow(() -> startupTimedOut(spec));
  }

  private static SandboxException startupTimedOut(SandboxSpec spec) {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "the sandbox was not ready within " + spec.startupTimeout().toSeconds() + " s",
            "raise startupTimeout, or shorten init")
        .sandbox(spec.id())
        .exception();
  }

  /** Destroys a sandbox whose creation failed, even if the caller was interrupted. */
  private void end(E2bSandbox sandbox, RuntimeException why) {
    boolean interrupted = Thread.interrupted();
    try {
      control.kill(sandbox.name(), KILL_TIMEOUT);
    } catch (SandboxException e) {
      why.addSuppressed(e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}

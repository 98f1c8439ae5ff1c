package dev.isola.provider.http;

import dev.isola.link.AgentSandbox;
import dev.isola.link.InstallationKey;
import dev.isola.link.LinkTimeouts;
import dev.isola.provider.http.BackendInfo.Level;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Opens sandboxes that exist at the backend. */
record SandboxOpener(Backend backend, InstallationKey key) {
  private static final Duration KEEPALIVE = Duration.ofSeconds(10);

  /** A channel costs a connection to another machine, and perhaps a process there. */
  private LinkTimeouts timeouts() {
    return LinkTimeouts.DEFAULT
        .withConnectTimeout(backend.timeout())
        .withHandshakeTimeout(backend.timeout())
        .withKeepalive(KEEPALIVE, KEEPALIVE.multipliedBy(3));
  }

  OpenSandbox open(
      SandboxId id, SandboxNote note, BackendInfo info, RequestedCapabilities capabilities) {
    AtomicReference<@Nullable OpenSandbox> opened = new AtomicReference<>();
    Consumer<SandboxState> state =
        now -> {
          OpenSandbox sandbox = opened.get();
          if (sandbox != null) {
            sandbox.setState(now);
          }
        };
    Map<Class<? extends Capability>, Capability> requested = capabilities.of(id, state);
    OpenSandbox sandbox =
        info.level() == Level.SIMPLE
            ? new OpenSandbox.ByRequests(new SimpleSandbox(backend, id, note, requested))
            : new OpenSandbox.ByAgent(agent(id, note, info, requested));
    opened.set(sandbox);
    return sandbox;
  }

  private AgentSandbox agent(
      SandboxId id,
      SandboxNote note,
      BackendInfo info,
      Map<Class<? extends Capability>, Capability> requested) {
    Secret secret = key.secretOf(id);
    boolean relayed = info.level() == Level.RELAY;
    ChannelConnector connector =
        new ChannelConnector(
            backend.channel(id, relayed ? Optional.empty() : Optional.of(secret)),
            () -> exists(id));
    Map<Class<? extends Capability>, Capability> provided = new HashMap<>(requested);
    AgentSandbox.Builder builder =
        AgentSandbox.builder(id, connector, secret)
            .capabilities(BackendDescription.capabilities(info))
            .commandTimeout(note.timeout())
            .timeouts(timeouts());
    if (relayed && provided.remove(Renewing.class) instanceof Renewing backends) {
      builder.renewingDecorator(
          agents ->
              fromNow -> {
                backends.renew(fromNow);
                agents.renew(fromNow);
              });
    }
    if (info.level() == Level.SERVE) {
      builder.snapshottingDecorator(agents -> new BackendSnapshotting(agents, backend, id));
    }
    return builder.providerCapabilities(provided).build();
  }

  /** A backend that does not answer has not destroyed the sandbox. */
  private boolean exists(SandboxId id) {
    try {
      return backend.find(id).filter(BackendSandbox::isUsable).isPresent();
    } catch (SandboxException e) {
      return true;
    }
  }
}

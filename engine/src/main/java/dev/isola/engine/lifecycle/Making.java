package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.registry.Registry;
import dev.isola.engine.startup.Startup;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.Optional;

/** One sandbox being made. Before a provider is tried it is written who that is. */
final class Making {
  private final Book book;
  private final Registry registry;
  private final CreateRequest request;
  private final SandboxSpec spec;
  private final Optional<ForkOrigin> origin;
  private final Images images;
  private final boolean defaultTtl;
  private final Startup startup;
  private SandboxEntry entry;

  Making(SandboxEntry entry, Book book, Registry registry, Order order, Images images) {
    this.entry = entry;
    this.book = book;
    this.registry = registry;
    this.request = order.request();
    this.spec = request.spec();
    this.origin = order.origin();
    this.images = images;
    this.defaultTtl = order.defaultTtl();
    this.startup = order.startup();
  }

  SandboxSpec spec() {
    return spec;
  }

  SandboxEntry entry() {
    return entry;
  }

  Startup startup() {
    return startup;
  }

  Sandbox at(String name) {
    Provider provider = registry.get(name);
    if (!entry.provider().equals(name)) {
      ProviderInfo info = provider.info();
      entry =
          book.write(entry, entry.toBuilder().provider(name, info.isolation()).build())
              .orElseThrow(() -> destroyedMeanwhile(spec.id()));
      Failpoint.CREATE_MOVED_ON.reach();
    }
    Failpoint.CREATE_MAKING.reach();
    Sandbox sandbox =
        origin.isPresent()
            ? origin.get().workspace().create(Deadlines.given(request))
            : create(provider);
    try {
      if (origin.isPresent()) {
        origin.get().rest().accept(sandbox);
      } else {
        images.fill(spec, sandbox, name);
      }
      return sandbox;
    } catch (SandboxException e) {
      provider.destroy(spec.id(), Destroy.FORCE); // who makes it next begins anew
      throw e;
    }
  }

  /** Where the backend refuses a ttl that the client never asked for, it gets what is allowed. */
  private Sandbox create(Provider provider) {
    SandboxSpec given = Deadlines.given(request.with(images.base(spec)));
    try {
      return provider.create(given);
    } catch (InvalidRequest e) {
      String most = e.context().get(Provider.MAX_TTL_SECONDS);
      if (!defaultTtl || most == null) {
        throw e;
      }
      Duration ttl = Duration.ofSeconds(Long.parseLong(most));
      entry =
          book.write(entry, entry.toBuilder().expiresAt(entry.createdAt().plus(ttl)).build())
              .orElseThrow(() -> destroyedMeanwhile(spec.id()));
      return provider.create(given.toBuilder().deadline(ttl).build());
    }
  }

  static SandboxException destroyedMeanwhile(SandboxId id) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + id + " was destroyed while it was made",
            "create a new sandbox")
        .sandbox(id)
        .exception();
  }
}

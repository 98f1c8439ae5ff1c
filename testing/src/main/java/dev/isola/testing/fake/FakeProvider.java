package dev.isola.testing.fake;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** An in-memory provider that records calls, and its factory. */
public final class FakeProvider implements Provider, ProviderFactory {
  private final String name;
  public Health health = new Health.Healthy("always");
  public Isolation isolation = Isolation.CONTAINER;
  public Optional<HostResources> resources = Optional.empty();
  public Hosting hosting = Hosting.LOCAL;
  public Set<LimitKind> limits = Set.of(LimitKind.MEMORY, LimitKind.CPU);
  public boolean emulated;
  public boolean destroyFails;
  public boolean createFails;
  public int made;
  public ProviderConfig config = ProviderConfig.EMPTY;
  private @Nullable ProviderContext context;
  public final List<SandboxSpec> specs = new ArrayList<>();
  public final List<Command> commands = new ArrayList<>();
  public final Map<SandboxId, FakeSandbox> alive = new ConcurrentHashMap<>();

  public FakeProvider(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public ProviderProfile profile() {
    return new ProviderProfile(isolation, hosting, Duration.ofMillis(1));
  }

  @Override
  public Provider create(ProviderConfig settings, ProviderContext given) {
    made++;
    config = settings;
    context = given;
    return this;
  }

  public ProviderContext context() {
    return Objects.requireNonNull(context);
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo info =
        new ProviderInfo(
            name,
            "for tests",
            ApiVersion.CURRENT,
            isolation,
            Set.of(Attaching.class, Terminals.class),
            new SpecSupport(
                Set.of(SpecFeature.USERS, SpecFeature.WORKSPACE_PATH),
                Set.of(NetworkMode.NONE),
                Set.of(VolumeMount.Type.BIND),
                limits),
            List.of(
                new Prerequisite("memory", true, true, "of this JVM", ""),
                new Prerequisite("magic", false, false, "no wand", "apt install wand")),
            "in memory",
            Duration.ofMillis(1),
            hosting);
    return emulated ? info.withEmulation() : info;
  }

  @Override
  public Health health() {
    return health;
  }

  @Override
  public Optional<HostResources> resources() {
    return resources;
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    specs.add(spec);
    if (createFails) {
      throw Fault.of(ErrorCode.SPAWN_FAILED, "the sandbox did not start", "try again").exception();
    }
    FakeSandbox sandbox = new FakeSandbox(spec.id(), commands);
    alive.put(spec.id(), sandbox);
    return sandbox;
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return Optional.ofNullable(alive.get(id));
  }

  @Override
  public List<InventoryItem> inventory() {
    return List.of();
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    if (destroyFails) {
      throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "it clings to life", "kill it").exception();
    }
    alive.remove(id);
  }

  @Override
  public void close() {}
}

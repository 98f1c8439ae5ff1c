package dev.isola.engine;

import dev.isola.engine.api.ProviderStatus;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
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
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A provider whose health and failures a test sets; also its own factory. */
public final class FakeProvider implements Provider, ProviderFactory {
  private static final Map<String, Isolation> STRENGTH =
      Map.ofEntries(
          Map.entry("firecracker", Isolation.VM),
          Map.entry("e2b", Isolation.VM),
          Map.entry("microvmctl", Isolation.VM),
          Map.entry("qemu", Isolation.VM),
          Map.entry("gvisor", Isolation.KERNEL),
          Map.entry("docker", Isolation.CONTAINER),
          Map.entry("crun", Isolation.CONTAINER),
          Map.entry("runc", Isolation.CONTAINER),
          Map.entry("bubblewrap", Isolation.CONTAINER),
          Map.entry("proot", Isolation.PROCESS),
          Map.entry("subprocess", Isolation.PROCESS));

  private static final Set<String> ONLY_WHEN_NAMED = Set.of("worktree");

  /** Profiles by name; all others start in a millisecond and have no dependencies. */
  private static final Map<String, ProviderProfile> PROFILES =
      Map.of(
          "firecracker", profile(Hosting.LOCAL, 150),
          "e2b", profile(Hosting.REMOTE, 2000),
          "gvisor", profile(Hosting.LOCAL, 300),
          "docker", profile(Hosting.DAEMON, 400),
          "crun", profile(Hosting.LOCAL, 30),
          "runc", profile(Hosting.LOCAL, 60),
          "bubblewrap", profile(Hosting.LOCAL, 15),
          "proot", profile(Hosting.LOCAL, 40),
          "subprocess", profile(Hosting.LOCAL, 10));

  private static ProviderProfile profile(Hosting hosting, long millis) {
    return new ProviderProfile(Isolation.VM, hosting, Duration.ofMillis(millis));
  }

  public static final SpecSupport EVERYTHING =
      new SpecSupport(
          EnumSet.complementOf(EnumSet.of(SpecFeature.GPUS)),
          EnumSet.allOf(NetworkMode.class),
          EnumSet.allOf(VolumeMount.Type.class),
          EnumSet.allOf(LimitKind.class));

  private final String name;
  private final Isolation isolation;
  private final SpecSupport support;
  private final Set<Class<? extends Capability>> capabilities;
  public volatile Health health = new Health.Healthy("always");
  public volatile @Nullable RuntimeException failure;
  public volatile @Nullable Usage usage;
  public volatile @Nullable ProviderConfig config;
  public volatile boolean closed;
  public volatile boolean emulated;
  public volatile Runnable beforeCreate = () -> {};
  public volatile Consumer<SandboxId> beforeDestroy = id -> {};
  public volatile @Nullable Supplier<RuntimeException> inventoryFailure;
  public volatile List<InventoryItem> sightings = List.of();
  public volatile Optional<String> imageDigest = Optional.empty();

  /** Whether it finds every sandbox that it is asked for. */
  public volatile boolean findsAll;

  public volatile @Nullable SandboxSpec lastSpec;

  /** The failure of every command in its sandboxes. */
  public volatile Supplier<RuntimeException> commandFailure = UnsupportedOperationException::new;

  /** Rejects a longer TTL, like a backend with a maximum. */
  public volatile @Nullable Duration longestTtl;

  public final Set<String> volumes = new ConcurrentSkipListSet<>();
  public final AtomicInteger created = new AtomicInteger();
  public final AtomicInteger requested = new AtomicInteger();

  public FakeProvider(String name) {
    this(name, STRENGTH.getOrDefault(name, Isolation.CONTAINER));
  }

  public FakeProvider(String name, Isolation isolation) {
    this(name, isolation, EVERYTHING, Set.copyOf(Capability.all()));
  }

  public FakeProvider(
      String name,
      Isolation isolation,
      SpecSupport support,
      Set<Class<? extends Capability>> capabilities) {
    this.name = name;
    this.isolation = isolation;
    this.support = support;
    this.capabilities = capabilities;
  }

  public FakeProvider ill(String reason) {
    health = new Health.Unhealthy(reason, "mend " + name);
    return this;
  }

  public FakeProvider degraded(String reason) {
    health = new Health.Degraded(reason, "mend " + name);
    return this;
  }

  public FakeProvider failing(ErrorCode code, String what) {
    failure = Fault.of(code, what, "mend " + name).exception();
    return this;
  }

  public ProviderStatus status() {
    return new ProviderStatus(name, Optional.of(info()), health, Instant.EPOCH);
  }

  public ProviderStatus status(java.time.InstantSource clock) {
    return new ProviderStatus(name, Optional.of(info()), health, clock.instant());
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public ProviderProfile profile() {
    ProviderProfile declared = new ProviderProfile(isolation, known().hosting(), known().startup());
    return ONLY_WHEN_NAMED.contains(name) ? declared.whenNamed() : declared;
  }

  @Override
  public Provider create(ProviderConfig given, ProviderContext context) {
    config = given;
    return this;
  }

  @Override
  public ProviderInfo info() {
    ProviderInfo info =
        new ProviderInfo(
            name,
            "for tests",
            ApiVersion.CURRENT,
            isolation,
            capabilities,
            support,
            List.of(),
            "nothing to clean",
            known().startup(),
            known().hosting());
    return emulated ? info.withEmulation() : info;
  }

  private ProviderProfile known() {
    return PROFILES.getOrDefault(name, profile(Hosting.LOCAL, 1));
  }

  @Override
  public Health health() {
    requested.incrementAndGet();
    return health;
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    created.incrementAndGet();
    beforeCreate.run();
    lastSpec = spec;
    Duration longest = longestTtl;
    if (longest != null && spec.deadline().orElse(longest).compareTo(longest) > 0) {
      throw Fault.of(ErrorCode.INVALID_SPEC, "the ttl is too long", "request a shorter ttl")
          .with(MAX_TTL_SECONDS, Long.toString(longest.toSeconds()))
          .exception();
    }
    RuntimeException planned = failure;
    if (planned != null) {
      throw planned;
    }
    return new FakeSandbox(spec.id(), () -> Optional.ofNullable(usage), commandFailure);
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return findsAll ? Optional.of(new FakeSandbox(id)) : Optional.empty();
  }

  @Override
  public Optional<String> imageDigest(SandboxSpec spec) {
    return imageDigest;
  }

  @Override
  public Optional<Volumes> volumes() {
    return capabilities.contains(Volumes.class) ? Optional.of(new Folders()) : Optional.empty();
  }

  private final class Folders implements Volumes {
    @Override
    public void create(String volume) {
      fail();
      volumes.add(volume);
    }

    @Override
    public List<String> list() {
      return List.copyOf(volumes);
    }

    @Override
    public void destroy(String volume) {
      fail();
      volumes.remove(volume);
    }

    private void fail() {
      RuntimeException planned = failure;
      if (planned != null) {
        throw planned;
      }
    }
  }

  @Override
  public List<InventoryItem> inventory() {
    Supplier<RuntimeException> broken = inventoryFailure;
    if (broken != null) {
      throw broken.get();
    }
    return sightings;
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions how) {
    beforeDestroy.accept(id);
  }

  @Override
  public void close() {
    closed = true;
  }
}

package dev.isola.engine.api.volume;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ProviderPreference;
import dev.isola.engine.api.HelperProfile;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.VolumeFiles;
import dev.isola.engine.api.VolumeView;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.engine.sandbox.ProviderCandidates;
import dev.isola.engine.sandbox.VolumeResolver;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.store.DiskReserve;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.VolumeEntry;
import dev.isola.store.VolumeEntry.State;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Creates, lists and removes volumes. Each change is recorded before it is made at the provider, so
 * that reconciliation can finish one that a crash interrupted.
 */
public final class VolumeService {
  /** The maximum number of volumes. */
  public static final int MAX_VOLUMES = 10_000;

  /** The label on a helper sandbox; its value is the volume id. */
  public static final String HELPER_LABEL = VolumeMounts.LABEL;

  private static final Requirements VOLUME_SUPPORT = Requirements.capabilities(Volumes.class);
  private static final String PROBED_MOUNT = "/volume";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Ledger ledger;
  private final ProviderRegistry registry;
  private final ProviderCandidates candidates;
  private final String defaultProvider;
  private final VolumeHelpers helpers;
  private final VolumeMounts mounts;
  private final InstantSource clock;
  private final Log log;
  private final List<ReentrantLock> locks = Stream.generate(ReentrantLock::new).limit(32).toList();

  /**
   * @param defaultProvider the provider of requests that name none
   */
  public VolumeService(
      Ledger ledger,
      ProviderRegistry registry,
      ProviderCandidates candidates,
      String defaultProvider,
      SandboxCreator creator,
      Sandboxes sandboxes,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.registry = registry;
    this.candidates = candidates;
    this.defaultProvider = defaultProvider;
    this.mounts = new VolumeMounts(ledger);
    this.helpers = new VolumeHelpers(creator, sandboxes, mounts);
    this.clock = clock;
    this.log = log;
  }

  /**
   * Creates a volume.
   *
   * @param provider the provider to store it; {@code auto} for the best one, empty for the default
   * @throws dev.isola.spi.error.Conflict if the name is taken
   */
  public VolumeView create(String tenant, String name, String provider) {
    refuseUnlessName(name);
    return locked(name, () -> createLocked(tenant, name, provider));
  }

  private VolumeView createLocked(String tenant, String name, String provider) {
    refuseWhenFull();
    String holder = chooseProvider(provider);
    Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS); // the precision of the ledger
    VolumeEntry entry =
        new VolumeEntry(
            SandboxId.random(RANDOM).value(), tenant, name, holder, State.CREATING, now, now);
    if (!ledger.volumes().insert(entry)) {
      throw Fault.of(
              ErrorCode.CONFLICT, "volume " + name + " already exists", "choose another name")
          .exception();
    }
    Failpoint.VOLUME_WRITTEN.reach();
    try {
      return view(finishCreate(entry));
    } catch (SandboxException e) {
      ledger.volumes().remove(entry.id());
      throw e;
    }
  }

  private VolumeEntry finishCreate(VolumeEntry entry) {
    volumesOf(entry.provider()).create(entry.name());
    Failpoint.VOLUME_CREATED.reach();
    return update(entry.withState(State.AVAILABLE, clock.instant()));
  }

  private void refuseWhenFull() {
    if (ledger.volumes().all().size() >= MAX_VOLUMES) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the limit of " + MAX_VOLUMES + " volumes is reached",
              "remove some")
          .with("limit", Integer.toString(MAX_VOLUMES))
          .exception();
    }
  }

  /** Returns the volumes of a tenant, sorted by name. */
  public List<VolumeView> list(String tenant) {
    return ledger.volumes().all().stream()
        .filter(entry -> entry.tenant().equals(tenant))
        .map(VolumeService::view)
        .toList();
  }

  /** Returns a volume by id; empty if the tenant has no such volume. */
  public Optional<VolumeView> find(String tenant, String id) {
    return ledger
        .volumes()
        .find(id)
        .filter(entry -> entry.tenant().equals(tenant))
        .map(VolumeService::view);
  }

  /**
   * Returns a volume by name.
   *
   * @throws dev.isola.spi.error.NotFound if the tenant has no such volume
   */
  public VolumeView get(String tenant, String name) {
    return view(require(tenant, name));
  }

  private VolumeEntry require(String tenant, String name) {
    return ledger
        .volumes()
        .findByName(name)
        .filter(entry -> entry.tenant().equals(tenant))
        .orElseThrow(() -> VolumeResolver.missing(name));
  }

  /**
   * Removes a volume with all its files; returns when nothing is left.
   *
   * @throws dev.isola.spi.error.Conflict if a sandbox mounts it; the volume is then kept
   */
  public void remove(String tenant, String name) {
    locked(
        name,
        () -> {
          VolumeEntry entry = withProvider(require(tenant, name));
          VolumeEntry removing =
              DiskReserve.freeing(() -> update(entry.withState(State.REMOVING, clock.instant())));
          Failpoint.VOLUME_REMOVING.reach();
          finishRemove(removing);
          return name;
        });
  }

  private void finishRemove(VolumeEntry entry) {
    Optional<SandboxId> mounting = mounts.sandbox(entry.name());
    if (mounting.isPresent()) {
      update(entry.withState(State.AVAILABLE, clock.instant()));
      throw Fault.of(
              ErrorCode.CONFLICT,
              "sandbox " + mounting.get() + " has volume " + entry.name() + " mounted",
              "destroy the sandbox first")
          .exception();
    }
    helpers.destroyAll(entry.id());
    volumesOf(entry.provider()).destroy(entry.name());
    Failpoint.VOLUME_DESTROYED.reach();
    boolean _ = DiskReserve.freeing(() -> ledger.volumes().remove(entry.id()));
  }

  /**
   * Returns the files of a volume, accessed through a helper sandbox.
   *
   * @throws dev.isola.spi.error.NotFound if the tenant has no such volume
   */
  public VolumeFiles files(String tenant, String name, HelperProfile profile) {
    return locked(
        name,
        () -> {
          VolumeEntry entry = withProvider(require(tenant, name));
          if (entry.state() == State.REMOVING) {
            throw VolumeResolver.removing(name);
          }
          return helpers.files(entry, profile);
        });
  }

  /** Finishes changes that a crash or a failing provider interrupted. */
  public void reconcile() {
    for (VolumeEntry seen : ledger.volumes().all()) {
      if (seen.state() != State.AVAILABLE) {
        try {
          locked(seen.name(), () -> finishPending(seen.id()));
        } catch (SandboxException e) {
          log.warning(
              "volume "
                  + seen.name()
                  + " is still "
                  + lowerCase(seen.state())
                  + ": "
                  + e.fault().problem());
        }
      }
    }
  }

  private boolean finishPending(String id) {
    Optional<VolumeEntry> now = ledger.volumes().find(id);
    now.filter(entry -> entry.state() == State.CREATING).ifPresent(this::finishCreate);
    now.filter(entry -> entry.state() == State.REMOVING).ifPresent(this::finishRemove);
    return now.isPresent();
  }

  /** Returns the volume with a known and recorded provider. */
  private VolumeEntry withProvider(VolumeEntry entry) {
    return entry.provider().isEmpty()
        ? update(entry.withProvider(chooseProvider(""), clock.instant()))
        : entry;
  }

  private String chooseProvider(String requested) {
    String provider = requested.isEmpty() ? defaultProvider : requested;
    SandboxSpec spec =
        SandboxSpec.builder(SandboxId.random(RANDOM))
            .volume(new VolumeMount(VolumeMount.Type.VOLUME, "volume", PROBED_MOUNT, false))
            .build();
    return candidates
        .best(CreateRequest.of(spec, provider).requiring(VOLUME_SUPPORT))
        .orElseThrow(() -> noStorage(provider));
  }

  /** Returns a retryable error if a provider that supports volumes is only unavailable now. */
  private SandboxException noStorage(String provider) {
    boolean any = ProviderPreference.of(provider).equals(ProviderPreference.AUTO);
    String name = ProviderNames.canonical(provider);
    boolean supported =
        registry.providers().entrySet().stream()
            .filter(entry -> any || entry.getKey().equals(name))
            .anyMatch(entry -> entry.getValue().volumes().isPresent());
    return Fault.of(
            supported ? ErrorCode.PROVIDER_UNAVAILABLE : ErrorCode.NOT_IMPLEMENTED,
            any
                ? "no eligible provider can store volumes now"
                : "provider " + provider + " cannot store volumes" + (supported ? " now" : ""),
            "run isola providers to see which providers support volumes and are healthy")
        .with("capability", Capability.idOf(Volumes.class))
        .exception();
  }

  private Volumes volumesOf(String provider) {
    return registry
        .get(provider)
        .volumes()
        .orElseThrow(() -> Capability.unsupported(provider, Capability.idOf(Volumes.class)));
  }

  private VolumeEntry update(VolumeEntry entry) {
    if (!ledger.volumes().update(entry)) {
      throw VolumeResolver.missing(entry.name());
    }
    return entry;
  }

  private <T> T locked(String name, Supplier<T> work) {
    ReentrantLock lock = locks.get(Math.floorMod(name.hashCode(), locks.size()));
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  private static void refuseUnlessName(String name) {
    if (!VolumeMount.isValidName(name)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "'" + name + "' is not a valid volume name",
              "use letters, digits, . _ and -, at most 128, the first a letter or digit")
          .with("field", "name")
          .exception();
    }
  }

  private static VolumeView view(VolumeEntry entry) {
    return new VolumeView(
        entry.id(), entry.name(), entry.provider(), lowerCase(entry.state()), entry.createdAt());
  }

  private static String lowerCase(State state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}

package dev.isola.engine.config;

import dev.isola.engine.admission.DiskHeadroom;
import dev.isola.engine.admission.Headroom;
import dev.isola.engine.admission.MachineState;
import dev.isola.engine.api.HostAccess;
import dev.isola.engine.api.NetworkPolicy;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.api.health.ProbeSchedule;
import dev.isola.store.DiskReserve;
import dev.isola.store.DiskSpace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A complete, valid configuration. Every value records its origin. */
public final class Config {
  /**
   * One value as displayed to an operator; secrets are masked.
   *
   * @param key the full key, such as {@code providers.e2b.api_key}
   */
  public record Entry(String key, String value, ValueOrigin origin) {}

  /** Prefixes of the keys that concern one server. */
  private static final List<String> SERVER_KEYS =
      List.of("server.", "store.", "snapshots.", "metrics.", "traces.", "e2b.", "oidc.");

  private final Map<ConfigKey<?>, SourcedValue<?>> values;
  private final Map<String, ProviderSettings> providers;
  private final List<PoolConfig> pool;
  private final List<String> warnings;
  private final MachineInfo machine;

  Config(
      Map<ConfigKey<?>, SourcedValue<?>> values,
      Map<String, ProviderSettings> providers,
      List<PoolConfig> pool,
      List<String> warnings,
      MachineInfo machine) {
    this.values = Map.copyOf(values);
    this.providers = Map.copyOf(providers);
    this.pool = List.copyOf(pool);
    this.warnings = List.copyOf(warnings);
    this.machine = machine;
  }

  public <T> T get(ConfigKey<T> key) {
    return sourced(key).value();
  }

  public ValueOrigin origin(ConfigKey<?> key) {
    return sourced(key).origin();
  }

  @SuppressWarnings("unchecked") // The type of the key has read the value.
  private <T> SourcedValue<T> sourced(ConfigKey<T> key) {
    SourcedValue<?> sourced = values.get(key);
    if (sourced == null) {
      throw new IllegalArgumentException("no such key: " + key.name());
    }
    return (SourcedValue<T>) sourced;
  }

  /** Returns this configuration without warm pools. */
  public Config withoutPool() {
    return new Config(values, providers, List.of(), warnings, machine);
  }

  /**
   * Returns the configuration of a server for one user, which shares nothing but the settings of
   * providers with the server of the installation: it listens on a free port of the loopback
   * interface, and has its own data folder and ledger.
   */
  public Config forPrivateServer(Path data) {
    Map<ConfigKey<?>, SourcedValue<?>> own = new HashMap<>(values);
    ConfigKeys.ALL.stream()
        .filter(key -> SERVER_KEYS.stream().anyMatch(key.name()::startsWith))
        .forEach(key -> own.put(key, fixed(key.defaultValue().apply(machine))));
    own.put(ConfigKeys.SERVER_PORT, fixed(0L));
    own.put(ConfigKeys.SERVER_AUDIT, fixed(false));
    own.put(ConfigKeys.SHUTDOWN, fixed(ShutdownAction.LEAVE));
    own.put(ConfigKeys.DATA, fixed(data));
    return new Config(own, providers, List.of(), warnings, machine);
  }

  /** Returns the configuration of a server for one user that has one provider. */
  public Config forPrivateServer(Path data, String provider) {
    Config all = forPrivateServer(data);
    Map<ConfigKey<?>, SourcedValue<?>> own = new HashMap<>(all.values);
    own.put(ConfigKeys.PROVIDER, fixed(provider));
    Map<String, ProviderSettings> settings = new HashMap<>(providers);
    settings.keySet().retainAll(Set.of(provider));
    return new Config(own, settings, List.of(), warnings, machine);
  }

  private static <T> SourcedValue<T> fixed(T value) {
    return new SourcedValue<>(value, new ValueOrigin.Default());
  }

  /** Returns the settings of providers, by name. */
  public Map<String, ProviderSettings> providers() {
    return providers;
  }

  public List<PoolConfig> pool() {
    return pool;
  }

  /** Returns warnings about settings that are valid but probably unintended. */
  public List<String> warnings() {
    return warnings;
  }

  public SelectionPolicy policy() {
    return new SelectionPolicy(
        get(ConfigKeys.DEPLOYMENT_MODE),
        get(ConfigKeys.FLOOR),
        get(ConfigKeys.ALLOW_PROCESS),
        get(ConfigKeys.ALLOW_EMULATION),
        get(ConfigKeys.MICROVM_FALLBACK));
  }

  /** Returns the access to the host that the operator allows sandboxes. */
  public HostAccess hostAccess() {
    return new HostAccess(get(ConfigKeys.ALLOW_HOST_NETWORK), get(ConfigKeys.ALLOW_HOST_FOLDERS));
  }

  /** Returns the network modes that the operator allows sandboxes. */
  public NetworkPolicy networks() {
    return new NetworkPolicy(
        get(ConfigKeys.ALLOW_NETWORKS),
        !get(ConfigKeys.EGRESS_DENY).isEmpty() || !get(ConfigKeys.EGRESS_LIMIT_TO).isEmpty());
  }

  public ProbeSchedule probeSchedule() {
    return new ProbeSchedule(get(ConfigKeys.HEALTH_INTERVAL), get(ConfigKeys.HEALTH_TIMEOUT));
  }

  /** Returns the total capacity of the installation; unlimited where nothing is configured. */
  public Resources capacity() {
    double cpu = get(ConfigKeys.ADMISSION_CPU);
    if (cpu == 0) {
      cpu = get(ConfigKeys.ADMISSION_CPU_OVERCOMMIT) * machine.processors();
    }
    long memory = get(ConfigKeys.ADMISSION_MEMORY_MB);
    return new Resources(
        memory == 0 ? Resources.UNLIMITED : memory,
        cpu == 0 ? Resources.UNLIMITED : Resources.of(cpu, 0).milliCpu());
  }

  /** Returns the dedicated capacities, by provider name. */
  public Map<String, Resources> capacities() {
    Map<String, Resources> capacities = new TreeMap<>();
    providers.forEach((name, one) -> one.capacity().ifPresent(own -> capacities.put(name, own)));
    return capacities;
  }

  /**
   * Returns how the state of this machine limits admission.
   *
   * @param disks the file systems of the server
   */
  public Headroom headroom(DiskHeadroom disks) {
    return new Headroom(
        get(ConfigKeys.ADMISSION_MEMORY_OVERCOMMIT),
        get(ConfigKeys.ADMISSION_MAX_MEMORY_PRESSURE),
        machine.memoryMb(),
        () -> MachineState.read(Path.of("/proc")),
        disks);
  }

  /**
   * Returns how the disks of this machine limit admission: the data folder, that of each provider
   * and the snapshot store, which may all be file systems of their own.
   *
   * @param providers the names of the providers
   */
  public DiskHeadroom disks(Collection<String> providers, DiskReserve reserve) {
    Path data = get(ConfigKeys.DATA);
    String snapshots = get(ConfigKeys.SNAPSHOTS_PLACE);
    return new DiskHeadroom(
        get(ConfigKeys.ADMISSION_DISK_OVERCOMMIT),
        get(ConfigKeys.ADMISSION_MIN_FREE_DISK_MB),
        get(ConfigKeys.ADMISSION_MIN_FREE_INODES),
        Stream.concat(Stream.of(data), providers.stream().sorted().map(data::resolve)).toList(),
        List.of(snapshots.startsWith("/") ? Path.of(snapshots) : data.resolve("snapshots")),
        reserve,
        DiskSpace::of);
  }

  /** Returns all values in a stable order, for display. */
  public List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    ConfigKeys.ALL.forEach(key -> entries.add(entry(key)));
    new TreeMap<>(providers).values().forEach(one -> addTo(entries, one));
    for (int i = 0; i < pool.size(); i++) {
      PoolConfig one = pool.get(i);
      entries.add(new Entry("pool[" + i + "].provider", one.provider(), one.origin()));
      entries.add(new Entry("pool[" + i + "].size", String.valueOf(one.size()), one.origin()));
      // Shows only the image, because the environment of a spec may contain secrets.
      entries.add(
          new Entry(
              "pool[" + i + "].spec",
              one.request().spec().image().orElse("default"),
              one.origin()));
    }
    return entries;
  }

  private <T> Entry entry(ConfigKey<T> key) {
    return new Entry(key.name(), key.type().show(get(key)), origin(key));
  }

  private static <T> Entry entry(
      String prefix, String key, ValueType<T> kind, SourcedValue<T> sourced) {
    return new Entry(prefix + key, kind.show(sourced.value()), sourced.origin());
  }

  private static void addTo(List<Entry> entries, ProviderSettings one) {
    String prefix = "providers." + one.name() + ".";
    entries.add(
        new Entry(
            prefix + "enabled", String.valueOf(one.enabled()), one.sourcedEnabled().origin()));
    one.sourcedType()
        .ifPresent(type -> entries.add(new Entry(prefix + "type", type.value(), type.origin())));
    one.sourcedRegion()
        .ifPresent(
            region -> entries.add(new Entry(prefix + "region", region.value(), region.origin())));
    one.sourcedOwn()
        .ifPresent(
            own ->
                entries.add(new Entry(prefix + "own", String.valueOf(own.value()), own.origin())));
    one.capacityCpu()
        .ifPresent(
            cpu -> entries.add(entry(prefix, LayeredConfig.CAPACITY_CPU, LayeredConfig.CPU, cpu)));
    one.capacityMemoryMb()
        .ifPresent(
            memory ->
                entries.add(
                    entry(prefix, LayeredConfig.CAPACITY_MEMORY_MB, LayeredConfig.MEMORY, memory)));
    one.settings()
        .forEach(
            (setting, sourced) ->
                entries.add(
                    new Entry(
                        prefix + setting, one.displayValue(setting).orElse(""), sourced.origin())));
  }

  @Override
  public String toString() {
    return entries().toString();
  }
}

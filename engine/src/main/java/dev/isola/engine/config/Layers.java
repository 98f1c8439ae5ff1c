package dev.isola.engine.config;

import dev.isola.spi.Secret;
import dev.isola.spi.provider.ProviderSetting;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What has been given so far, the weakest source first: what is put later covers the earlier. */
final class Layers {
  private static final Kind<Boolean> FLAG = new Scalars.Flag();
  private static final Kind<String> REGION = new Scalars.Label();
  static final String CAPACITY_CPU = "capacity_cpu";
  static final String CAPACITY_MEMORY_MB = "capacity_memory_mb";
  static final Kind<Double> CPU = new Scalars.Decimal(0.1, 1_000_000);
  static final Kind<Long> MEMORY = new Scalars.Whole(1, 1L << 40);

  /** What is being put together for one provider. */
  private static final class Draft {
    Given<Boolean> enabled = new Given<>(true, new Origin.Default());
    Optional<Given<String>> type = Optional.empty();
    Optional<Given<String>> region = Optional.empty();
    Optional<Given<Double>> capacityCpu = Optional.empty();
    Optional<Given<Long>> capacityMemoryMb = Optional.empty();
    final Map<String, Given<Secret>> settings = new TreeMap<>();
  }

  final List<Problem> problems;
  private final Map<Key<?>, Given<?>> values = new HashMap<>();
  private final Map<String, Draft> providers = new TreeMap<>();

  Layers(Machine machine, List<Problem> problems) {
    this.problems = problems;
    Keys.ALL.forEach(
        key -> values.put(key, new Given<>(key.standard().apply(machine), new Origin.Default())));
  }

  /** Puts a value, or the reason why it is none. */
  void put(Key<?> key, Object raw, Origin origin) {
    try {
      values.put(key, new Given<>(key.kind().read(raw), origin));
    } catch (Unreadable e) {
      refuse(origin, key.name(), e.problem());
    }
  }

  /** Puts what is set for a provider: keys that every provider has, and settings of its own. */
  void put(String provider, String setting, String text, Origin origin) {
    Draft draft = providers.computeIfAbsent(provider, name -> new Draft());
    try {
      switch (setting) {
        case "enabled" -> draft.enabled = new Given<>(FLAG.read(text), origin);
        case "type" -> draft.type = Optional.of(new Given<>(text, origin));
        case "region" -> draft.region = Optional.of(new Given<>(REGION.read(text), origin));
        case CAPACITY_CPU -> draft.capacityCpu = Optional.of(new Given<>(CPU.read(text), origin));
        case CAPACITY_MEMORY_MB ->
            draft.capacityMemoryMb = Optional.of(new Given<>(MEMORY.read(text), origin));
        default -> draft.settings.put(setting, new Given<>(Secret.of(text), origin));
      }
    } catch (Unreadable e) {
      refuse(origin, "providers." + provider + "." + setting, e.problem());
    }
  }

  void refuse(Origin origin, String key, String problem) {
    problems.add(new Problem(origin, key, problem));
  }

  Map<Key<?>, Given<?>> values() {
    return values;
  }

  /**
   * @param declared what providers declare of their settings, by their types
   */
  Map<String, ProviderSettings> providers(Map<String, List<ProviderSetting>> declared) {
    Map<String, ProviderSettings> made = new TreeMap<>();
    providers.forEach(
        (name, draft) ->
            made.put(
                name,
                new ProviderSettings(
                    name,
                    draft.enabled,
                    draft.type,
                    draft.region,
                    draft.capacityCpu,
                    draft.capacityMemoryMb,
                    draft.settings,
                    secrets(
                        declared.getOrDefault(
                            draft.type.map(Given::value).orElse(name), List.of())))));
    return made;
  }

  private static Set<String> secrets(List<ProviderSetting> declared) {
    return declared.stream()
        .filter(ProviderSetting::secret)
        .map(ProviderSetting::name)
        .collect(Collectors.toSet());
  }
}

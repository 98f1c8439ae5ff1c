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

/** Collects values in order of precedence: a later value overrides an earlier one. */
final class LayeredConfig {
  private static final ValueType<Boolean> FLAG = new ScalarTypes.Flag();
  private static final ValueType<String> REGION = new ScalarTypes.Label();
  static final String CAPACITY_CPU = "capacity_cpu";
  static final String CAPACITY_MEMORY_MB = "capacity_memory_mb";
  static final ValueType<Double> CPU = new ScalarTypes.Decimal(0.1, 1_000_000);
  static final ValueType<Long> MEMORY = new ScalarTypes.WholeNumber(1, 1L << 40);

  /** The settings collected so far for one provider. */
  private static final class Draft {
    SourcedValue<Boolean> enabled = new SourcedValue<>(true, new ValueOrigin.Default());
    Optional<SourcedValue<String>> type = Optional.empty();
    Optional<SourcedValue<String>> region = Optional.empty();
    Optional<SourcedValue<Boolean>> own = Optional.empty();
    Optional<SourcedValue<Double>> capacityCpu = Optional.empty();
    Optional<SourcedValue<Long>> capacityMemoryMb = Optional.empty();
    final Map<String, SourcedValue<Secret>> settings = new TreeMap<>();
  }

  final List<ConfigProblem> problems;
  private final Map<ConfigKey<?>, SourcedValue<?>> values = new HashMap<>();
  private final Map<String, Draft> providers = new TreeMap<>();

  LayeredConfig(MachineInfo machine, List<ConfigProblem> problems) {
    this.problems = problems;
    ConfigKeys.ALL.forEach(
        key ->
            values.put(
                key,
                new SourcedValue<>(key.defaultValue().apply(machine), new ValueOrigin.Default())));
  }

  /** Sets a value, or records a problem if it is invalid. */
  void put(ConfigKey<?> key, Object raw, ValueOrigin origin) {
    try {
      values.put(key, new SourcedValue<>(key.type().read(raw), origin));
    } catch (InvalidValueException e) {
      reject(origin, key.name(), e.problem());
    }
  }

  /** Sets a value of a provider: a setting common to all providers, or one of its own. */
  void put(String provider, String setting, String text, ValueOrigin origin) {
    Draft draft = providers.computeIfAbsent(provider, name -> new Draft());
    try {
      switch (setting) {
        case "enabled" -> draft.enabled = new SourcedValue<>(FLAG.read(text), origin);
        case "type" -> draft.type = Optional.of(new SourcedValue<>(text, origin));
        case "region" -> draft.region = Optional.of(new SourcedValue<>(REGION.read(text), origin));
        case "own" -> draft.own = Optional.of(new SourcedValue<>(FLAG.read(text), origin));
        case CAPACITY_CPU ->
            draft.capacityCpu = Optional.of(new SourcedValue<>(CPU.read(text), origin));
        case CAPACITY_MEMORY_MB ->
            draft.capacityMemoryMb = Optional.of(new SourcedValue<>(MEMORY.read(text), origin));
        default -> draft.settings.put(setting, new SourcedValue<>(Secret.of(text), origin));
      }
    } catch (InvalidValueException e) {
      reject(origin, "providers." + provider + "." + setting, e.problem());
    }
  }

  void reject(ValueOrigin origin, String key, String problem) {
    problems.add(new ConfigProblem(origin, key, problem));
  }

  Map<ConfigKey<?>, SourcedValue<?>> values() {
    return values;
  }

  /**
   * @param declared the settings that providers declare, by provider type
   */
  Map<String, ProviderSettings> providers(Map<String, List<ProviderSetting>> declared) {
    Map<String, ProviderSettings> result = new TreeMap<>();
    providers.forEach(
        (name, draft) ->
            result.put(
                name,
                new ProviderSettings(
                    name,
                    draft.enabled,
                    draft.type,
                    draft.region,
                    draft.own,
                    draft.capacityCpu,
                    draft.capacityMemoryMb,
                    draft.settings,
                    secrets(
                        declared.getOrDefault(
                            draft.type.map(SourcedValue::value).orElse(name), List.of())))));
    return result;
  }

  private static Set<String> secrets(List<ProviderSetting> declared) {
    return declared.stream()
        .filter(ProviderSetting::secret)
        .map(ProviderSetting::name)
        .collect(Collectors.toSet());
  }
}

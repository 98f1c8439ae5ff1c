package dev.isola.engine.config;

import dev.isola.spi.Secret;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What has been given so far, the weakest source first: what is put later covers the earlier. */
final class Layers {
  private static final Kind<Boolean> FLAG = new Scalars.Flag();
  private static final Kind<String> REGION = new Scalars.Label();

  /** What is being put together for one provider. */
  private static final class Draft {
    Given<Boolean> enabled = new Given<>(true, new Origin.Default());
    Optional<Given<String>> type = Optional.empty();
    Optional<Given<String>> region = Optional.empty();
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

  /** Puts a provider's setting; {@code enabled}, {@code type} and {@code region} are ours. */
  void put(String provider, String setting, String text, Origin origin) {
    Draft draft = providers.computeIfAbsent(provider, name -> new Draft());
    try {
      switch (setting) {
        case "enabled" -> draft.enabled = new Given<>(FLAG.read(text), origin);
        case "type" -> draft.type = Optional.of(new Given<>(text, origin));
        case "region" -> draft.region = Optional.of(new Given<>(REGION.read(text), origin));
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

  Map<String, ProviderSettings> providers() {
    Map<String, ProviderSettings> made = new TreeMap<>();
    providers.forEach(
        (name, draft) ->
            made.put(
                name,
                new ProviderSettings(
                    name, draft.enabled, draft.type, draft.region, draft.settings)));
    return made;
  }
}

package dev.isola.engine.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/config.md lists every key with its values and variables, and its example is valid. */
class ConfigDocsTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z0-9_.]+)` \\|.*$");

  @TempDir Path folder;

  private static String docs() throws IOException {
    return Files.readString(Path.of("..", "docs", "config.md"));
  }

  @Test
  void docsHaveExactlyOneRowPerKey() throws IOException {
    String docs = docs();
    Matcher row = ROW.matcher(docs);
    List<String> rows = row.results().map(found -> found.group(1)).toList();
    assertThat(rows)
        .containsExactlyElementsOf(ConfigKeys.ALL.stream().map(ConfigKey::name).toList());
    for (ConfigKey<?> key : ConfigKeys.ALL) {
      String line =
          docs.lines()
              .filter(one -> one.startsWith("| `" + key.name() + "` |"))
              .findFirst()
              .orElseThrow();
      assertThat(line).contains(key.allowedValues());
      key.variables().forEach(variable -> assertThat(line).contains("`" + variable + "`"));
      if (!key.name().startsWith("admission.") && !key.name().equals("data")) {
        assertThat(line).contains("| " + standard(key) + " |");
      }
    }
    assertThat(docs).contains("`providers.NAME.enabled`", "`providers.NAME.SETTING`", "`pool`");
    assertThat(docs).contains("`providers.NAME.type`", "`providers.NAME.region`");
    assertThat(docs)
        .contains(
            "| `providers.NAME.capacity_cpu` | " + LayeredConfig.CPU.description() + " |",
            "| `providers.NAME.capacity_memory_mb` | " + LayeredConfig.MEMORY.description() + " |");
    assertThat(docs).contains("`E2B_API_KEY`", "`ISOLA_PROVIDERS_NAME_SETTING`");
  }

  private static <T> String standard(ConfigKey<T> key) {
    return key.type().show(key.defaultValue().apply(new MachineInfo(1, 1, Path.of("/"))));
  }

  @Test
  void docsExampleIsValid() throws IOException {
    Matcher example = Pattern.compile("(?s)```yaml\n(.*?)```").matcher(docs());
    assertThat(example.find()).isTrue();
    Path file = Files.writeString(folder.resolve("isola.yaml"), example.group(1));
    ConfigResult result =
        ConfigReader.read(
            new ConfigInput(
                new MachineInfo(8192, 4, folder),
                Optional.of(file),
                Map.of(),
                List.of(),
                List.of("bubblewrap", "docker", "e2b")));
    assertThat(result).isInstanceOf(ConfigResult.Valid.class);
  }
}

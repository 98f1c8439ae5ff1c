package dev.isola.app.remote;

import dev.isola.app.cli.UsageException;
import dev.isola.document.RecipeDocument;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Reads recipe files, in YAML or JSON (a subset of YAML). */
final class RecipeFile {
  static final String NAME = "isola-template.yaml";

  private static final int MAX_BYTES = 1024 * 1024;
  private static final int MAX_DEPTH = 20;
  private static final LoadSettings SETTINGS =
      LoadSettings.builder().setCodePointLimit(MAX_BYTES).build();

  private RecipeFile() {}

  /**
   * Reads and checks a recipe.
   *
   * @throws dev.isola.spi.error.InvalidRequest listing every error in it
   */
  static Map<String, Object> read(Path file) {
    Map<String, Object> document = parse(file);
    RecipeDocument.check(document);
    return document;
  }

  private static Map<String, Object> parse(Path file) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw unreadable(file, "is larger than " + MAX_BYTES + " bytes");
      }
      String text = Files.readString(file);
      rejectDeepNesting(file, text);
      if (!(new Load(SETTINGS).loadFromString(text) instanceof Map<?, ?> tree)) {
        throw unreadable(file, "is not a YAML mapping");
      }
      Map<String, Object> document = new LinkedHashMap<>();
      tree.forEach(
          (key, value) -> {
            if (value != null) {
              document.put(String.valueOf(key), value);
            }
          });
      return document;
    } catch (MarkedYamlEngineException e) {
      String line = e.getProblemMark().map(mark -> ", line " + (mark.getLine() + 1)).orElse("");
      throw unreadable(file, "is not YAML" + line + ": " + e.getProblem());
    } catch (YamlEngineException e) {
      throw unreadable(file, "is not YAML, or uses unsupported YAML features");
    } catch (NoSuchFileException e) {
      throw unreadable(file, "does not exist");
    } catch (CharacterCodingException e) {
      throw unreadable(file, "is not UTF-8");
    } catch (IOException e) {
      throw unreadable(file, "cannot be read: " + e.getMessage());
    }
  }

  /**
   * Limits the nesting depth, because the loader is recursive. The parser's event stream is not.
   */
  private static void rejectDeepNesting(Path file, String text) {
    int depth = 0;
    for (Event event : new Parse(SETTINGS).parseString(text)) {
      depth +=
          event instanceof CollectionStartEvent ? 1 : event instanceof CollectionEndEvent ? -1 : 0;
      if (depth > MAX_DEPTH) {
        throw unreadable(file, "is nested more than " + MAX_DEPTH + " levels deep");
      }
    }
  }

  private static UsageException unreadable(Path file, String problem) {
    return new UsageException(
        "the recipe " + file + " " + problem,
        "name a recipe with -f; docs/templates.md documents the format");
  }
}

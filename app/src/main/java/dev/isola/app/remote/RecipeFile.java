package dev.isola.app.remote;

import dev.isola.app.cli.UsageException;
import dev.isola.client.Images;
import dev.isola.client.error.InvalidRequest;
import dev.isola.client.error.NotFound;
import dev.isola.document.RecipeDocument;
import dev.isola.document.dockerfile.Dockerfile;
import dev.isola.document.recipe.Recipe;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Reads recipe files: YAML, JSON (a subset of YAML), or a Dockerfile. */
public final class RecipeFile {
  static final String NAME = "isola-template.yaml";

  private static final String DOCKERFILE = "Dockerfile";
  private static final Pattern DOCKERFILES =
      Pattern.compile("(.*\\.)?(dockerfile|containerfile)(\\..*)?", Pattern.CASE_INSENSITIVE);

  private static final int MAX_BYTES = 1024 * 1024;
  private static final int MAX_DEPTH = 20;
  private static final LoadSettings SETTINGS =
      LoadSettings.builder().setCodePointLimit(MAX_BYTES).build();

  private RecipeFile() {}

  /**
   * A recipe.
   *
   * @param document its copy steps name no archives
   * @param folder that copy paths are relative to
   * @param notes what has no effect, for its author
   */
  public record LoadedRecipe(Map<String, Object> document, Path folder, List<String> notes) {}

  /**
   * Reads and checks a recipe.
   *
   * @param path the file, or a folder with {@value #NAME} or {@value #DOCKERFILE}
   * @param arguments values for the ARG instructions of a Dockerfile
   * @param images returns the variables of an image; empty if there is no such image
   * @throws dev.isola.spi.error.InvalidRequest listing every error in it, or the first one of a
   *     Dockerfile
   */
  public static LoadedRecipe load(
      Path path,
      Map<String, String> arguments,
      Function<String, Optional<Map<String, String>>> images) {
    boolean folder = Files.isDirectory(path);
    Path file = folder ? inFolder(path) : path;
    Path parent = folder ? path : Objects.requireNonNullElse(path.getParent(), Path.of("."));
    if (DOCKERFILES.matcher(file.getFileName().toString()).matches()) {
      Dockerfile read = Dockerfile.read(text(file), arguments, images);
      Recipe _ = RecipeDocument.check(read.recipe());
      return new LoadedRecipe(read.recipe(), parent, read.notes());
    }
    if (!arguments.isEmpty()) {
      throw new UsageException(
          "--build-arg applies to a Dockerfile, and " + file + " is none", "omit it");
    }
    Map<String, Object> document = parse(file);
    Recipe _ = RecipeDocument.check(document);
    return new LoadedRecipe(document, parent, List.of());
  }

  /** Returns the variables of an image of a server; empty if there is no such image. */
  public static Optional<Map<String, String>> variables(Images images, String name) {
    try {
      Map<String, String> env = new LinkedHashMap<>();
      if (images.get(name).document().get("env") instanceof Map<?, ?> variables) {
        variables.forEach((key, value) -> env.put(String.valueOf(key), String.valueOf(value)));
      }
      return Optional.of(env);
    } catch (NotFound | InvalidRequest e) {
      return Optional.empty();
    }
  }

  private static Path inFolder(Path folder) {
    Path recipe = folder.resolve(NAME);
    Path dockerfile = folder.resolve(DOCKERFILE);
    return !Files.exists(recipe) && Files.exists(dockerfile) ? dockerfile : recipe;
  }

  private static Map<String, Object> parse(Path file) {
    String text = text(file);
    try {
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
    }
  }

  private static String text(Path file) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw unreadable(file, "is larger than " + MAX_BYTES + " bytes");
      }
      return Files.readString(file);
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
        "name a recipe or a Dockerfile with -f; docs/templates.md documents the format");
  }
}

package dev.isola.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Archives the files that the copy steps of a recipe name. */
public final class RecipeArchives {

  /** A tar archive of the files of a copy step. */
  public interface Archive {
    String sha256();

    long size();

    InputStream open() throws IOException;
  }

  /** Takes archives, for example to a server. */
  public interface Store {
    /** Stores an archive, unless it is already there. */
    void put(Archive archive) throws IOException;
  }

  private RecipeArchives() {}

  /**
   * Archives the files of each copy step that names no archive, and returns the recipe with the
   * names of the archives. Links are archived as links and never followed.
   *
   * @param folder that copy paths are relative to; its {@code .dockerignore} is respected
   * @throws IOException if a file to copy cannot be read
   */
  public static TemplateRecipe store(TemplateRecipe recipe, Path folder, Store store)
      throws IOException {
    Map<String, Object> document = recipe.document();
    if (!(document.get("steps") instanceof List<?> steps)) {
      return recipe;
    }
    List<Object> completed = new ArrayList<>();
    for (Object step : steps) {
      completed.add(store(step, folder, store));
    }
    Map<String, Object> all = new LinkedHashMap<>(document);
    all.put("steps", completed);
    return new TemplateRecipe(all);
  }

  private static Object store(Object step, Path folder, Store store) throws IOException {
    if (step instanceof Map<?, ?> fields
        && fields.get("copy") instanceof Map<?, ?> copy
        && copy.get("from") instanceof String from
        && copy.get("archive") == null) {
      try (CopyArchive archive = CopyArchive.pack(folder, from)) {
        store.put(archive);
        Map<Object, Object> named = new LinkedHashMap<>(copy);
        named.put("archive", archive.sha256());
        return Map.of("copy", named);
      }
    }
    return step; // the server validates it
  }
}

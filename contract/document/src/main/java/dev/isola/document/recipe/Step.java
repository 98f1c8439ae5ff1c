package dev.isola.document.recipe;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One step of a recipe. Its text is how a log shows it. */
public sealed interface Step {

  /**
   * Runs a shell command.
   *
   * @param user that runs it; the one of the steps before when empty
   */
  record Run(String command, Optional<String> user) implements Step {
    @Override
    public String toString() {
      return "RUN " + command;
    }
  }

  /**
   * Copies files of an uploaded archive.
   *
   * @param from path in the archive, or a pattern of such paths; {@code .} is all of it
   * @param to path in the sandbox; a relative one begins at the folder of the steps before
   * @param owner of the copies; the user of the steps before when empty
   * @param mode permission bits in octal digits; those of the archive when empty
   * @param archive names the upload: SHA-256 of its bytes in the native API
   */
  record Copy(String from, String to, Optional<String> owner, Optional<String> mode, String archive)
      implements Step {
    @Override
    public String toString() {
      return "COPY " + from + " " + to;
    }
  }

  /** Sets variables of the steps that follow, and of the sandboxes made from the template. */
  record Env(Map<String, String> variables) implements Step {
    public Env {
      variables = Collections.unmodifiableMap(new LinkedHashMap<>(variables));
    }

    /** Values may be secret; names are not. */
    @Override
    public String toString() {
      return "ENV " + String.join(" ", variables.keySet());
    }
  }

  /** Makes a folder, if it is missing, and runs what follows in it. */
  record Workdir(String path) implements Step {
    @Override
    public String toString() {
      return "WORKDIR " + path;
    }
  }

  /** Runs what follows as this user. */
  record User(String name) implements Step {
    @Override
    public String toString() {
      return "USER " + name;
    }
  }

  /** Installs packages of the base's distribution, as root. */
  record Packages(List<String> names) implements Step {
    public Packages {
      names = List.copyOf(names);
    }

    @Override
    public String toString() {
      return "PACKAGES " + String.join(" ", names);
    }
  }
}

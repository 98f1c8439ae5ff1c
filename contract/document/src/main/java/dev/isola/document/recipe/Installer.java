package dev.isola.document.recipe;

import java.util.regex.Pattern;

/**
 * A program that installs packages into an image. A name of a package never starts with a hyphen,
 * which would make it an option of the program.
 */
public enum Installer {
  /** The package manager of the distribution: apt-get or apk. */
  SYSTEM("packages", Names.DISTRIBUTION),
  /** apt-get of Debian and its derivatives. */
  APT("apt", Names.DISTRIBUTION),
  /** pip, for the Python of the image. */
  PIP("pip", Pattern.compile("[A-Za-z0-9][A-Za-z0-9._\\[\\],<>=!~*+@:/ -]{0,254}")),
  /** npm, globally. */
  NPM("npm", Pattern.compile("@?[A-Za-z0-9][A-Za-z0-9._@/^~<>=*|:+-]{0,213}"));

  /** Holds what the constants share. */
  private static final class Names {
    /** A name with an optional version. apt removes a package whose name ends with a hyphen. */
    private static final Pattern DISTRIBUTION =
        Pattern.compile("[A-Za-z0-9](?:[A-Za-z0-9+._:~=-]{0,126}[A-Za-z0-9+._~])?");
  }

  private final String field;
  private final Pattern name;

  Installer(String field, Pattern name) {
    this.field = field;
    this.name = name;
  }

  /** Returns the name of the step in a recipe. */
  public String field() {
    return field;
  }

  /** Returns whether a text is the name of a package, with an optional version. */
  public boolean isPackage(String text) {
    return name.matcher(text).matches();
  }
}

package dev.isola.dashboard;

import dev.isola.codec.digest.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * All files that the pages load. {@link #build} is part of their addresses and changes with their
 * content, so that browsers may keep them for ever.
 */
final class Assets {
  /** Names the files of the pages, one on each line. */
  static final String WEB_FILES = "web/files.txt";

  /** Names the files of other projects, each after its SHA-256. */
  static final String VENDOR_FILES = "vendor/SHA256SUMS";

  private static final int BUILD_LENGTH = 12;

  private final Map<String, Asset> files = new TreeMap<>();
  private final String build;

  Assets() {
    MessageDigest digest = Sha256.newDigest();
    for (String name : lines(WEB_FILES)) {
      add("web/" + name, name, digest);
    }
    for (String line : lines(VENDOR_FILES)) {
      String name = line.substring(line.lastIndexOf(' ') + 1);
      add("vendor/" + name, name, digest);
    }
    build = HexFormat.of().formatHex(digest.digest()).substring(0, BUILD_LENGTH);
  }

  private void add(String path, String name, MessageDigest digest) {
    Asset asset = Asset.read(path);
    if (files.put(name, asset) != null) {
      throw new IllegalStateException("two files of the dashboard are named " + name);
    }
    digest.update(asset.content());
  }

  /** Returns the name of this set of files. */
  String build() {
    return build;
  }

  /** Returns the files by name. */
  Map<String, Asset> files() {
    return files;
  }

  Optional<Asset> find(String ofBuild, String name) {
    return ofBuild.equals(build) ? Optional.ofNullable(files.get(name)) : Optional.empty();
  }

  private static List<String> lines(String path) {
    return Arrays.stream(new String(Asset.bytes(path), StandardCharsets.UTF_8).split("\n"))
        .filter(line -> !line.isBlank())
        .toList();
  }
}

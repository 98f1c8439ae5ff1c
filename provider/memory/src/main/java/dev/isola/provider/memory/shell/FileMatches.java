package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.Glob;
import dev.isola.provider.memory.file.Tree;
import dev.isola.provider.memory.process.Proc;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import java.util.ArrayList;
import java.util.List;

/** Finds the files that a word with {@code *}, {@code ?} or {@code []} stands for. */
final class FileMatches {
  private final Proc proc;

  FileMatches(Proc proc) {
    this.proc = proc;
  }

  List<String> of(String pattern) {
    List<String> found = List.of(pattern.startsWith("/") ? "/" : "");
    for (String name : pattern.split("/")) {
      if (!name.isEmpty()) {
        found = step(found, name);
      }
    }
    return found;
  }

  private List<String> step(List<String> folders, String name) {
    List<String> found = new ArrayList<>();
    Glob glob = Glob.ofFiles(name);
    for (String folder : folders) {
      for (String entry : names(folder)) {
        if (glob.matches(entry)) {
          found.add(folder.isEmpty() || folder.equals("/") ? folder + entry : folder + "/" + entry);
        }
      }
    }
    return found;
  }

  private List<String> names(String folder) {
    try {
      String path = Tree.absolute(proc.folder(), folder.isEmpty() ? "." : Raw.text(folder));
      return proc.tree().list(path, 1).stream().map(FileInfo::name).map(Raw::of).toList();
    } catch (SandboxException nothingThere) {
      return List.of();
    }
  }
}

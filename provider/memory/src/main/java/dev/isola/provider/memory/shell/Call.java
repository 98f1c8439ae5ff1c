package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.Tree;
import dev.isola.provider.memory.process.Proc;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * One program being run.
 *
 * @param words its name and arguments
 */
record Call(Proc proc, List<String> words, Map<String, String> env) {
  String name() {
    String first = words.getFirst();
    return first.substring(first.lastIndexOf('/') + 1);
  }

  List<String> arguments() {
    return words.subList(1, words.size());
  }

  Tree tree() {
    return proc.tree();
  }

  /** Returns a path of the shell as the tree knows it. */
  String path(String raw) {
    return Tree.absolute(proc.folder(), Raw.text(raw));
  }

  void out(String raw) throws IOException, InterruptedException {
    byte[] bytes = Raw.bytes(raw);
    proc.write(1, bytes, bytes.length);
  }

  /** Says what is wrong; returns the exit code 1. */
  int complain(String message) throws IOException, InterruptedException {
    byte[] bytes = Raw.bytes(name() + ": " + message + "\n");
    proc.write(2, bytes, bytes.length);
    return 1;
  }

  int complain(String raw, SandboxException e) throws IOException, InterruptedException {
    return complain(raw + ": " + reason(e));
  }

  /** Returns the words a person knows from other systems. */
  static String reason(SandboxException e) {
    return switch (e.code()) {
      case FILE_NOT_FOUND -> "No such file or directory";
      case IS_A_FOLDER -> "Is a directory";
      case NOT_A_FOLDER -> "Not a directory";
      case FILE_EXISTS -> "File exists";
      case FOLDER_NOT_EMPTY -> "Directory not empty";
      case DISK_FULL -> "No space left on device";
      case PERMISSION_DENIED -> "Permission denied";
      default -> Raw.of(e.fault().what());
    };
  }
}

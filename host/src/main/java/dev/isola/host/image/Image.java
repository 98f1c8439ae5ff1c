package dev.isola.host.image;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A root file system that sandboxes start from. It is never written to once it is here.
 *
 * @param rootfs the folder that becomes a sandbox's root; only its owner may enter the folder it is
 *     in, since an image may bring programs that are setuid root
 * @param source where it came from, for people
 * @param digest {@code sha256:...} of the list of everything in it
 * @param size in bytes, of the content of its files
 * @param files how many files, folders and links it has
 * @param env variables a command has unless told otherwise
 * @param user who runs a command unless told otherwise: name, number or {@code user:group}
 * @param workdir where a command runs unless told otherwise
 * @param architecture as OCI names it ({@code amd64}, {@code arm64}), or {@code unknown}
 * @param ownersKept whether files belong to whom the archive said; otherwise all are the caller's
 * @param notes what was left out or changed on the way in
 */
public record Image(
    String name,
    Path rootfs,
    Instant createdAt,
    String source,
    String digest,
    long size,
    long files,
    Map<String, String> env,
    Optional<String> user,
    Optional<String> workdir,
    String architecture,
    boolean ownersKept,
    List<String> notes) {

  public Image {
    env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
    notes = List.copyOf(notes);
  }
}

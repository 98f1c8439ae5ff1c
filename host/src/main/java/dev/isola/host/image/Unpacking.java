package dev.isola.host.image;

import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Where a source puts what it has.
 *
 * @param work an empty folder for things on the way; it goes when the image is done
 * @param root whether this process may give files away, and so keeps owners
 * @param progress is told in a few words what is being done
 */
record Unpacking(
    Unpacker to, Path work, Budget budget, Notes notes, boolean root, Consumer<String> progress) {}

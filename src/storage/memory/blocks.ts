/**
 * Texts in blocks of 2 MB, outside the heap. The garbage collector never walks them, and all texts together take at most about
 * twice their own bytes.
 *
 * A text that is removed leaves a gap. A block with more gaps than texts is compacted: its remaining texts move to another block.
 * @module
 */

/** Bytes of a block. */
const BLOCK_BYTES = 1 << 21

/** Bytes that a text takes at least. Limits the texts of a block to 16,384, so that no compaction moves more than half as many. */
const MIN_TEXT_BYTES = 128

/** Longest text in UTF-16 units, times 3 bytes, that shares a block with others. A longer one gets a block of its own length. */
const MAX_SHARED_BYTES = BLOCK_BYTES / 8

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** An object that has at most one text in a block. */
export interface TextOwner {
  /** Undefined while it has no text. */
  block: Block | undefined
  /** Offset of the text in the block. */
  place: number
  /** Bytes of the text. */
  length: number
}

/** One array of bytes with the texts of many owners. */
interface Block {
  readonly bytes: Uint8Array
  /** Bytes taken so far, gaps included: the next text begins here. */
  used: number
  /** Bytes of the gaps that removed texts left. */
  removed: number
  /** Owners of all texts ever written here. Those whose text was removed have another block now, or none. */
  readonly owners: TextOwner[]
}

/** Blocks that give their space back by {@link TextBlocks.compact}. */
export interface TextBlocks {
  /** Writes a text for an owner that has none. */
  readonly write: (owner: TextOwner, text: string) => void
  /** Reads the text of an owner, which must have one. */
  readonly read: (owner: TextOwner) => string
  /** Removes the text of an owner, if it has one. */
  readonly remove: (owner: TextOwner) => void
  /** Compacts one block that is half empty. One at a time: a single removal may leave many of them. */
  readonly compact: () => void
}

/** Makes a store of texts. */
export function createTextBlocks(): TextBlocks {
  /** The block that new texts go to. */
  let open: Block | undefined
  const halfEmpty = new Set<Block>()
  /** Bytes of a block that was compacted, for the next new block. */
  let spare: Uint8Array | undefined

  /** Returns the open block, or a new one if it has less than so many bytes left. */
  function blockFor(bytes: number): Block {
    if (open === undefined || open.used + bytes > BLOCK_BYTES) {
      open = createBlock(spare ?? new Uint8Array(BLOCK_BYTES))
      spare = undefined
    }
    return open
  }

  return {
    write(owner, text) {
      const most = text.length * 3
      if (most > MAX_SHARED_BYTES) {
        const bytes = encoder.encode(text)
        append(owner, createBlock(bytes), bytes.length)
      } else {
        const block = blockFor(most)
        append(owner, block, encoder.encodeInto(text, block.bytes.subarray(block.used)).written)
      }
    },

    read: (owner) => decoder.decode(bytesOf(owner, owner.block as Block)), // by this function's contract

    remove(owner) {
      const { block } = owner
      if (block === undefined) return
      owner.block = undefined
      block.removed += sizeOf(owner)
      if (block.removed * 2 >= block.used) halfEmpty.add(block)
    },

    compact() {
      if (halfEmpty.size === 0) return
      const [block] = halfEmpty
      if (block === undefined) return
      halfEmpty.delete(block)
      if (block === open) open = undefined
      for (const owner of block.owners)
        if (owner.block === block) {
          const target = blockFor(owner.length)
          target.bytes.set(bytesOf(owner, block), target.used)
          append(owner, target, owner.length)
        }
      if (block.bytes.length === BLOCK_BYTES) spare = block.bytes
    },
  }
}

function createBlock(bytes: Uint8Array): Block {
  return { bytes, used: 0, removed: 0, owners: [] }
}

/** Gives an owner the next bytes of a block. */
function append(owner: TextOwner, block: Block, length: number): void {
  owner.block = block
  owner.place = block.used
  owner.length = length
  block.used += sizeOf(owner)
  block.owners.push(owner)
}

/** Returns the bytes that the text of an owner takes of its block. */
function sizeOf({ length }: TextOwner): number {
  return Math.max(length, MIN_TEXT_BYTES)
}

function bytesOf({ place, length }: TextOwner, { bytes }: Block): Uint8Array {
  return bytes.subarray(place, place + length)
}
